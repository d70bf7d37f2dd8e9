"""The Python side of the simulated device: what `torch.cuda` asks of C++ is answered here.

torch's CPU build has no `torch._C._cuda_*` functions, and a CUDA build's ask a driver. They are put in place
one by one, so that torch.cuda's own unmodified Python (lazy initialisation, statistics, seeds, summaries) does
the rest. A torch.cuda name itself is replaced only where it does not go through such a function.

Every name gets a function object of its own: Dynamo refuses two names for one function ("Duplicate torch object").
"""

from types import ModuleType
from typing import List

from . import compiling, devices, initialisation, legacy_types, memory, parallel, storages, streams

NOT_MODELLED = ("CUDA context", "cuDNN workspace", "sort and scan scratch", "Triton kernels")


def install(native: ModuleType, totals: List[int]) -> None:
    """Give this process one simulated device per entry of `totals` (bytes). The second call in a process does nothing."""
    import torch

    if hasattr(torch.cuda, "_vram_lens_simulation"):
        return
    native.install(totals)
    devices.install(torch, native, totals)
    initialisation.install(torch, native)
    memory.install(torch, native, totals)
    streams.install(torch)
    storages.install(torch, native)
    parallel.install(torch)
    legacy_types.install(torch, native)
    compiling.install(torch, native)
    # A CUDA backward pass runs on a thread of the autograd engine with an OpenMP pool of its own, which
    # makes the CPU kernels behind it 1.6 to 2.5 times slower; on the calling thread it computes the same.
    torch.autograd.set_multithreading_enabled(False)
    # What the agent looks for, to report the device as simulated.
    torch.cuda._vram_lens_simulation = {"mode": "exact", "notModelled": list(NOT_MODELLED)}
