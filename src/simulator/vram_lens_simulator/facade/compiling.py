"""torch.compile, and libraries that bring operators of their own."""

import sys
from types import ModuleType
from typing import Any, Dict

from ..messages import text


def install(torch: ModuleType, native: ModuleType) -> None:
    compile_with_torch = torch.compile
    said: Dict[str, bool] = {}

    def compile(model: Any = None, *, backend: Any = "inductor", mode: Any = None, options: Any = None, **rest: Any) -> Any:
        """As torch.compile; the inductor, which would write code for the card, gives way to eager execution."""
        if backend not in ("inductor", None):
            return compile_with_torch(model, backend=backend, mode=mode, options=options, **rest)
        if not said:
            said["eager"] = True
            print(f"VRAM Lens: {text('eager')}", file=sys.stderr, flush=True)
        return compile_with_torch(model, backend="eager", **rest)

    torch.compile = compile
    # Fusers of TorchScript would compile for the device too.
    if hasattr(torch._C, "_jit_set_texpr_fuser_enabled"):
        torch._C._jit_set_texpr_fuser_enabled(False)

    # torch._dynamo.reset() imports these from a build with CUDA; they serve CUDA graphs, which are refused.
    if not hasattr(torch._C, "_cuda_CUDAAllocator_AllocatorState"):
        torch._C._cuda_CUDAAllocator_AllocatorState = type("_cuda_CUDAAllocator_AllocatorState", (), {})
    if not hasattr(torch._C, "_set_cached_tensors_enabled"):

        def set_cached_tensors_enabled(_enabled: bool) -> None:
            pass

        torch._C._set_cached_tensors_enabled = set_cached_tensors_enabled

    load_library = torch.ops.load_library

    def load_and_scan(path: Any) -> None:
        """Operators that a library registers get their simulated kernels as well (torchvision loads itself so)."""
        load_library(path)
        native.rescan()

    torch.ops.load_library = load_and_scan
