"""Counting, choosing and describing devices."""

import os
from dataclasses import dataclass
from types import ModuleType
from typing import List

# What a card of compute capability 8.9 reports (an RTX 4090's figures), so that code which chooses by capability
# takes the usual way. The memory is the size asked for.
CAPABILITY = (8, 9)
MULTI_PROCESSORS = 128
L2_CACHE = 75_497_472


@dataclass(frozen=True)
class DeviceProperties:
    """Stands in for `torch._C._CudaDeviceProperties`; total_memory and caches in bytes, clock rates in kHz."""

    total_memory: int
    uuid: str
    pci_bus_id: int
    name: str = "Simulated GPU"
    major: int = CAPABILITY[0]
    minor: int = CAPABILITY[1]
    multi_processor_count: int = MULTI_PROCESSORS
    L2_cache_size: int = L2_CACHE
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_threads_per_multi_processor: int = 1536
    regs_per_multiprocessor: int = 65_536
    shared_memory_per_block: int = 49_152
    shared_memory_per_block_optin: int = 101_376
    shared_memory_per_multiprocessor: int = 102_400
    clock_rate: int = 2_520_000
    memory_clock_rate: int = 10_501_000
    memory_bus_width: int = 384
    pci_device_id: int = 0
    pci_domain_id: int = 0
    is_integrated: bool = False
    is_multi_gpu_board: bool = False
    gcnArchName: str = "sm_89"


def install(torch: ModuleType, native: ModuleType, totals: List[int]) -> None:
    """Put the device functions in place for devices of `totals` bytes."""
    cuda, c = torch.cuda, torch._C
    # A process's simulated devices are its own: the pid keeps two processes' devices apart in the panel.
    properties = [DeviceProperties(total, f"SIM-{os.getpid()}-{index}", index) for index, total in enumerate(totals)]
    used = [False] * len(totals)

    def get_device_count() -> int:
        return len(totals)

    def set_device(index: int) -> None:
        native.set_device(index)
        used[index] = True

    def get_device() -> int:
        return native.get_device()

    def exchange(index: int) -> int:
        """Make `index` current when it is no negative number; answers the device that was current."""
        previous = native.get_device()
        if index >= 0:
            native.set_device(index)
            used[index] = True
        return previous

    def exchange_device(index: int) -> int:
        return exchange(index) if index >= 0 else -1

    def maybe_exchange_device(index: int) -> int:
        return exchange(index) if index >= 0 else -1

    def has_primary_context(index: int) -> bool:
        return index == 0 or used[index]

    def can_access_peer(_device: int, _peer: int) -> bool:
        return False

    def get_properties(index: int) -> DeviceProperties:
        return properties[index]

    def nvml_device_count() -> int:
        """Less than zero: torch.cuda.device_count() must not count the real cards of this machine."""
        return -1

    def arch_flags() -> str:
        return f"sm_{CAPABILITY[0]}{CAPABILITY[1]}"

    c._cuda_getDeviceCount = get_device_count
    c._cuda_setDevice = set_device
    c._cuda_getDevice = get_device
    c._cuda_exchangeDevice = cuda._exchange_device = exchange_device
    c._cuda_maybeExchangeDevice = cuda._maybe_exchange_device = maybe_exchange_device
    c._cuda_hasPrimaryContext = has_primary_context
    c._cuda_canDeviceAccessPeer = can_access_peer
    c._cuda_getArchFlags = arch_flags
    c._has_cuda = True
    cuda._get_device_properties = get_properties
    cuda._device_count_nvml = nvml_device_count
    if torch.version.cuda is None:  # a CUDA build keeps its own: torchvision compares it with the one it was built for
        torch.version.cuda = "12.6"
    _hide_cudnn(torch)


def _hide_cudnn(torch: ModuleType) -> None:
    """cuDNN is absent: C++ hears it from the extension, and the modules that ask in Python hear it here."""
    cudnn = torch.backends.cudnn

    def not_initialised() -> bool:
        return False

    def not_acceptable(_tensor: object) -> bool:  # torch's own would warn at every RNN call
        return False

    def no_version() -> None:
        return None

    torch._C._has_cudnn = False
    cudnn.m._init = not_initialised
    cudnn.is_acceptable = not_acceptable
    cudnn.version = no_version
