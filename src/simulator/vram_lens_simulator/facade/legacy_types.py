"""torch.cuda.FloatTensor and its siblings on a CPU build, whose own type objects refuse to be used."""

from types import ModuleType
from typing import Any

NAMES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


def install(torch: ModuleType, native: ModuleType) -> None:
    if native.is_cuda_build():  # its type objects make tensors through the dispatcher, which is ours
        return

    class LegacyType(type):
        """The type of a legacy constructor: instances are ordinary tensors of its dtype on a device."""

        dtype: Any

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, torch.Tensor) and instance.is_cuda and instance.dtype == cls.dtype

    def construct(cls: Any, *arguments: Any) -> Any:
        if arguments and not isinstance(arguments[0], int):
            source = arguments[0]
            if isinstance(source, torch.Size):
                return torch.empty(source, dtype=cls.dtype, device="cuda")
            return torch.as_tensor(source, dtype=cls.dtype, device="cuda")
        return torch.empty(*(arguments or (0,)), dtype=cls.dtype, device="cuda")

    for name, dtype in NAMES.items():
        body = {"__new__": construct, "__module__": "torch.cuda", "dtype": getattr(torch, dtype), "is_cuda": True}
        setattr(torch.cuda, name, LegacyType(name, (), body))

    set_default = torch.set_default_tensor_type

    def set_default_tensor_type(kind: Any, /) -> None:
        """As torch's own; a simulated type sets the default dtype and device that it stands for."""
        named = getattr(torch.cuda, kind[len("torch.cuda.") :], kind) if _names_cuda(kind) else kind
        if isinstance(named, LegacyType):
            torch.set_default_dtype(named.dtype)
            torch.set_default_device("cuda")
        else:
            set_default(kind)

    torch.set_default_tensor_type = set_default_tensor_type


def _names_cuda(kind: object) -> bool:
    return isinstance(kind, str) and kind.startswith("torch.cuda.")
