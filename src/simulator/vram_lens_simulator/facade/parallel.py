"""DataParallel's helpers, which a CPU build lacks and a CUDA build runs on the card.

Buckets as there: the results of one bucket are views of one flat buffer, and so live and die together.
"""

from types import ModuleType
from typing import Any, List, Optional, Sequence


def install(torch: ModuleType) -> None:
    c = torch._C
    from torch._utils import _flatten_dense_tensors, _reorder_tensors_as, _take_tensors, _unflatten_dense_tensors

    def place(index: int) -> Any:
        return torch.device("cuda", index) if index >= 0 else torch.device("cpu")

    def broadcast(tensor: Any, devices: Sequence[int]) -> List[Any]:
        return [tensor if tensor.device == place(device) else tensor.to(place(device)) for device in devices]

    def broadcast_out(tensor: Any, outputs: Sequence[Any]) -> Sequence[Any]:
        for output in outputs:
            output.copy_(tensor)
        return outputs

    def broadcast_coalesced(tensors: Sequence[Any], devices: Sequence[int], buffer_size: int) -> List[List[Any]]:
        copies: List[List[Any]] = [[] for _ in devices[1:]]
        for bucket in _take_tensors(tensors, buffer_size):
            if len(bucket) == 1:
                for copy, device in zip(copies, devices[1:]):
                    copy.append(bucket[0].to(place(device)))
                continue
            flat = _flatten_dense_tensors(bucket)
            for copy, device in zip(copies, devices[1:]):
                copy.extend(_unflatten_dense_tensors(flat.to(place(device)), bucket))
        return [list(tensors), *(list(_reorder_tensors_as(copy, tensors)) for copy in copies)]

    def scatter(
        tensor: Any, devices: Sequence[int], sizes: Optional[Sequence[int]] = None, dim: int = 0, streams: Any = None
    ) -> List[Any]:
        parts = tensor.split(list(sizes), dim) if sizes is not None else tensor.chunk(len(devices), dim)
        return [part.to(place(device)) for part, device in zip(parts, devices)]

    def scatter_out(tensor: Any, outputs: Sequence[Any], dim: int = 0, streams: Any = None) -> Sequence[Any]:
        for part, output in zip(tensor.split([output.size(dim) for output in outputs], dim), outputs):
            output.copy_(part)
        return outputs

    def gather_out(tensors: Sequence[Any], output: Any, dim: int = 0) -> Any:
        for part, tensor in zip(output.split([tensor.size(dim) for tensor in tensors], dim), tensors):
            part.copy_(tensor)
        return output

    def gather(tensors: Sequence[Any], dim: int, destination: Optional[int] = None) -> Any:
        shape = list(tensors[0].shape)
        shape[dim] = sum(tensor.size(dim) for tensor in tensors)
        device = torch.cuda.current_device() if destination is None else destination
        return gather_out(tensors, torch.empty(shape, dtype=tensors[0].dtype, device=place(device)), dim)

    def no_nccl(_tensors: Sequence[Any]) -> bool:
        return False

    c._broadcast = broadcast
    c._broadcast_out = broadcast_out
    c._broadcast_coalesced = broadcast_coalesced
    c._scatter = scatter
    c._scatter_out = scatter_out
    c._gather = gather
    c._gather_out = gather_out
    torch.cuda.nccl.is_available = no_nccl
