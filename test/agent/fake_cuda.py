"""A small honest stand-in for the private functions of a CUDA build, over real CPU torch.

Scripts of the tests import it. ``torch.cuda._lazy_init`` stays torch's own and runs its queued calls; the allocator's
numbers are those the script sets, and emptying the cache returns exactly the releasable part.
"""

import os
import types

MIB = 1 << 20


class Allocator:
    """One device's counters, in bytes."""

    def __init__(self):
        self.used = self.active = self.stranded = self.reserved = 0
        self.peak_used = self.peak_reserved = 0
        self.calls = 0

    def set(self, used, reserved, stranded=0, pending=0):
        """The state from now on; peaks follow as torch's do."""
        self.used, self.reserved, self.stranded = used, reserved, stranded
        self.active = used + pending
        self.peak_used = max(self.peak_used, used)
        self.peak_reserved = max(self.peak_reserved, reserved)

    def nested(self):
        """What ``torch._C._cuda_memoryStats`` gives: statistics by family and pool."""

        def family(current, peak=None):
            peak = current if peak is None else peak
            one = {"current": current, "peak": peak, "allocated": peak, "freed": peak - current}
            return {"all": dict(one), "small_pool": dict(one), "large_pool": dict(one)}

        self.calls += 1
        return {
            "allocation": family(1),
            "segment": family(1),
            "active": family(1),
            "inactive_split": family(1),
            "allocated_bytes": family(self.used, self.peak_used),
            "reserved_bytes": family(self.reserved, self.peak_reserved),
            "active_bytes": family(self.active),
            "inactive_split_bytes": family(self.stranded),
            "requested_bytes": family(max(0, self.used - 100)),
            "oversize_allocations": {"current": 0, "peak": 0, "allocated": 0, "freed": 0},
            "oversize_segments": {"current": 0, "peak": 0, "allocated": 0, "freed": 0},
            "num_alloc_retries": 3,
            "num_ooms": 1,
            "num_sync_all_streams": 0,
            "num_device_alloc": 4,
            "num_device_free": 0,
            "max_split_size": -1,
        }

    def empty(self):
        """Return the releasable part."""
        self.reserved = self.active + self.stranded


def install(devices=2, touched=(0,)):
    """Put the stand-ins into torch; returns the allocators. CUDA is initialised by the script, through torch."""
    import torch

    allocators = [Allocator() for _ in range(devices)]
    initialised_in = []
    torch._C._cuda_init = lambda: initialised_in.append(os.getpid())
    torch._C._cuda_getDeviceCount = lambda: devices
    # As CUDA: a process forked after the initialisation can never use it.
    torch._C._cuda_isInBadFork = lambda: bool(initialised_in) and initialised_in[0] != os.getpid()
    torch._C._cuda_getCurrentRawStream = lambda index: 0
    torch._C._cuda_hasPrimaryContext = lambda index: index in touched
    torch._C._cuda_memoryStats = lambda index: allocators[index].nested()
    torch._C._cuda_emptyCache = lambda: [allocator.empty() for allocator in allocators]
    if hasattr(torch, "Generator"):
        torch.cuda.default_generators = tuple(torch.Generator() for _ in range(devices))
    torch.cuda._cudart = object()
    torch.cuda.device_count = lambda: devices
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.get_device_properties = lambda index: types.SimpleNamespace(
        name="Test Card", total_memory=24 << 30, uuid="01234567-89ab-cdef-0123-456789abcde%d" % index
    )
    return allocators
