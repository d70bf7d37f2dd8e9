"""torch.cuda's lazy initialisation, kept as it is, and what a forked child may do.

`torch.cuda._lazy_init` runs at the script's first use of CUDA (C++ calls it too, for `device="cuda"`), calls
`torch._C._cuda_init` and then everything queued with `torch.cuda._lazy_call`: seeds, and our agent's start.
"""

import os
from types import ModuleType, SimpleNamespace
from typing import Tuple


def install(torch: ModuleType, native: ModuleType) -> None:
    cuda, c = torch.cuda, torch._C
    state = SimpleNamespace(initialised=False, bad_fork=False)

    def init() -> None:
        cuda.default_generators = tuple(native.default_generator(index) for index in range(native.device_count()))
        state.initialised = True

    def is_in_bad_fork() -> bool:
        return state.bad_fork

    def after_fork() -> None:
        # As with a real driver: a child of a process that has used CUDA cannot use it.
        state.bad_fork = state.bad_fork or state.initialised
        native.require_initialisation()

    c._cuda_init = init
    c._cuda_isInBadFork = cuda._is_in_bad_fork = is_in_bad_fork
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
    c._cudart = cuda._cudart = Cudart(native)
    _install_markers(torch)
    _refuse_graphs(torch)


class Cudart:
    """The functions of the CUDA runtime that torch.cuda and training scripts call through `torch.cuda.cudart()`."""

    class cudaError(int):
        """A status code; `cudaError.success` is the only one the simulated device answers."""

        success = 0

    def __init__(self, native: ModuleType) -> None:
        self._native = native

    def cudaMemGetInfo(self, device: int) -> Tuple[int, int]:
        """Free and total bytes of the device."""
        return tuple(self._native.mem_get_info(device))

    def cudaGetErrorString(self, code: int) -> str:
        return "no error" if int(code) == 0 else f"error {int(code)}"

    def cudaProfilerStart(self) -> int:
        return 0

    def cudaProfilerStop(self) -> int:
        return 0

    def cudaHostRegister(self, _pointer: int, _size: int, _flags: int) -> int:
        return 0

    def cudaHostUnregister(self, _pointer: int) -> int:
        return 0


def _install_markers(torch: ModuleType) -> None:
    """NVTX marks mean something to NVIDIA's profiler only: they are accepted and dropped."""

    class Markers:
        def __init__(self) -> None:
            self.depth = 0

        def rangePushA(self, _message: str) -> int:
            self.depth += 1
            return self.depth - 1

        def rangePop(self) -> int:
            self.depth = max(0, self.depth - 1)
            return self.depth

        def rangeStartA(self, _message: str) -> int:
            return 0

        def rangeEnd(self, _handle: int) -> None:
            pass

        def markA(self, _message: str) -> None:
            pass

    torch.cuda.nvtx._nvtx = Markers()


def _refuse_graphs(torch: ModuleType) -> None:
    """CUDA graphs replay kernels on the card; there is none."""
    c, graphs = torch._C, torch.cuda.graphs

    def is_capturing() -> bool:
        return False

    def refuse(_cls: type, *_arguments: object, **_keywords: object) -> None:
        raise NotImplementedError("simulated CUDA: CUDA graphs are not simulated")

    c._cuda_isCurrentStreamCapturing = graphs._cuda_isCurrentStreamCapturing = is_capturing
    graphs.CUDAGraph.__new__ = refuse
