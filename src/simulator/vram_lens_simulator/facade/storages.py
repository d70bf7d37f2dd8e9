"""Storages. Their memory carries the CPU's type inside (CPU kernels make views of it), so Python must ask
the extension which device a storage belongs to, and make device storages through a tensor.

Copies, pickling, `torch.save` and `torch.load` then work through torch's own code.
"""

from types import ModuleType
from typing import Any


def install(torch: ModuleType, native: ModuleType) -> None:
    base = torch._C.StorageBase
    cpu_or_meta = base.device
    make = base.__new__

    def device_of(storage: Any) -> Any:
        device = cpu_or_meta.__get__(storage)
        if device.type != "cpu":
            return device
        index = native.storage_device(torch.empty(0, dtype=torch.uint8).set_(storage))
        return device if index < 0 else torch.device("cuda", index)

    def new(cls: type, *arguments: Any, device: Any = None, **keywords: Any) -> Any:
        target = torch.device("cpu" if device is None else device)
        if target.type != "cuda":
            if device is not None:
                keywords["device"] = device
            return make(cls, *arguments, **keywords)
        content = make(cls, *arguments, **keywords)  # a size, or a sequence of bytes
        storage = torch.empty(content.nbytes(), dtype=torch.uint8, device=target).untyped_storage()
        if arguments and not isinstance(arguments[0], int):
            storage.copy_(content)
        return storage

    def share(_storage: Any, *_arguments: Any, **_keywords: Any) -> Any:
        raise NotImplementedError("simulated CUDA: a CUDA tensor cannot be sent to another process")

    torch.UntypedStorage.device = property(device_of)
    torch.UntypedStorage.__new__ = staticmethod(new)
    torch.UntypedStorage._share_cuda_ = share
