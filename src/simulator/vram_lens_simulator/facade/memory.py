"""The allocator's doors: torch.cuda.memory's own Python works from these functions."""

import threading
import warnings
from types import ModuleType
from typing import Any, Dict, List, Tuple


def install(torch: ModuleType, native: ModuleType, totals: List[int]) -> None:
    """Put the allocator functions in place for devices of `totals` bytes."""
    c = torch._C
    fractions = [1.0] * len(totals)

    def memory_stats(device: int) -> Dict[str, Any]:
        return native.memory_stats(device)

    def reset_peak(device: int) -> None:
        native.reset_peak_memory_stats(device)

    def reset_accumulated(device: int) -> None:
        native.reset_accumulated_memory_stats(device)

    def empty_cache() -> None:
        native.empty_cache()

    def set_fraction(fraction: float, device: int) -> None:
        native.set_memory_fraction(device, fraction)
        fractions[device] = fraction

    def get_fraction(device: int) -> float:
        return fractions[device]

    def snapshot(_pool: Tuple[int, int, bool] = (0, 0, True)) -> Dict[str, Any]:
        """In the form of `torch._C._cuda_memorySnapshot`; no history is recorded, so the traces are empty."""
        return {
            "segments": [segment for device in range(len(totals)) for segment in native.segments(device)],
            "device_traces": [[] for _ in totals],
            "external_annotations": [],
            "allocator_settings": {"expandable_segments": False, "garbage_collection_threshold": 0.0},
        }

    def record_history(enabled: object, *_arguments: object) -> None:
        if enabled:
            warnings.warn("simulated CUDA: no allocation history is recorded", stacklevel=3)

    def history_enabled() -> bool:
        return False

    def clear_cublas_workspaces() -> None:
        native.clear_cublas_workspaces()

    def backend() -> str:
        return "native"

    def host_stats() -> Dict[str, Any]:
        return {}

    c._cuda_memoryStats = memory_stats
    c._cuda_resetPeakMemoryStats = reset_peak
    c._cuda_resetAccumulatedMemoryStats = reset_accumulated
    c._cuda_emptyCache = empty_cache
    c._cuda_setMemoryFraction = set_fraction
    c._cuda_getMemoryFraction = get_fraction
    c._cuda_memorySnapshot = snapshot
    c._cuda_record_memory_history = record_history
    c._cuda_isHistoryEnabled = history_enabled
    c._cuda_clearCublasWorkspaces = clear_cublas_workspaces
    c._cuda_getAllocatorBackend = backend
    c._cuda_hostMemoryStats = host_stats
    _install_raw_allocation(torch)


def _install_raw_allocation(torch: ModuleType) -> None:
    """`caching_allocator_alloc` and `_delete`: memory by address, for other libraries."""
    held: Dict[int, Any] = {}
    mutex = threading.Lock()

    def raw_alloc(size: int, _stream: int) -> int:
        block = torch.empty(size, dtype=torch.uint8, device="cuda")
        with mutex:
            held[block.data_ptr()] = block
        return block.data_ptr()

    def raw_delete(address: int) -> None:
        with mutex:
            block = held.pop(address, None)
        if block is None:
            raise RuntimeError(f"invalid device pointer: {address:#x}")

    torch._C._cuda_cudaCachingAllocator_raw_alloc = raw_alloc
    torch._C._cuda_cudaCachingAllocator_raw_delete = raw_delete
