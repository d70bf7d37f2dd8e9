"""Streams and events. Work is done when its call returns, so all of them are always finished."""

import itertools
import threading
import time
from types import ModuleType
from typing import Any, Optional, Tuple

CUDA = 1  # c10::DeviceType::CUDA


def install(torch: ModuleType) -> None:
    cuda, c = torch.cuda, torch._C
    current = threading.local()  # device index -> id of the stream chosen on this thread

    def get_current(device: int) -> Tuple[int, int, int]:
        return getattr(current, "ids", {}).get(device, 0), device, CUDA

    def get_default(device: int) -> Tuple[int, int, int]:
        return 0, device, CUDA

    def get_external(pointer: int, device: int) -> Tuple[int, int, int]:
        return pointer, device, CUDA

    def get_raw(device: int) -> int:
        return get_current(device)[0]

    def set_current(stream_id: int, device_index: int, device_type: int) -> None:
        if not hasattr(current, "ids"):
            current.ids = {}
        current.ids[device_index] = stream_id
        c._cuda_setDevice(device_index)

    def synchronize() -> None:
        pass

    def sleep(_cycles: int) -> None:
        pass

    def collect_ipc() -> None:
        pass

    sync_debug_mode = [0]

    def set_sync_debug_mode(mode: int) -> None:
        sync_debug_mode[0] = mode

    def get_sync_debug_mode() -> int:
        return sync_debug_mode[0]

    c._cuda_getCurrentStream = get_current
    c._cuda_getDefaultStream = get_default
    c._cuda_getStreamFromExternal = get_external
    c._cuda_getCurrentRawStream = get_raw
    c._cuda_setStream = set_current
    c._cuda_synchronize = synchronize
    c._cuda_sleep = sleep
    c._cuda_ipc_collect = collect_ipc
    c._cuda_set_sync_debug_mode = set_sync_debug_mode
    c._cuda_get_sync_debug_mode = get_sync_debug_mode

    stream, external, event = _classes(torch)
    cuda.Stream = cuda.streams.Stream = stream
    cuda.ExternalStream = cuda.streams.ExternalStream = external
    cuda.Event = cuda.streams.Event = event


def _classes(torch: ModuleType) -> Tuple[type, type, type]:
    """The classes for torch.cuda.Stream, ExternalStream and Event. They subclass torch's own so that
    `Tensor.record_stream`, which checks in C++, takes them."""
    next_id = itertools.count(1)

    class Stream(torch.Stream):
        """A stream whose work is always done."""

        def __new__(cls, device: Any = None, priority: int = 0, **kwargs: int) -> "Stream":
            if "stream_id" in kwargs:
                index, identity = kwargs["device_index"], kwargs["stream_id"]
            else:
                torch.cuda._lazy_init()
                index, identity = torch.cuda._utils._get_device_index(device, optional=True), next(next_id)
            return super().__new__(cls, stream_id=identity, device_index=index, device_type=CUDA)

        @property
        def cuda_stream(self) -> int:
            return self.stream_id

        @property
        def priority(self) -> int:
            return 0

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            pass

        def wait_event(self, event: Any) -> None:
            pass

        def wait_stream(self, stream: Any) -> None:
            pass

        def record_event(self, event: Any = None) -> Any:
            event = Event() if event is None else event
            event.record(self)
            return event

        def __enter__(self) -> "Stream":
            entered = self.__dict__.setdefault("_entered", [])
            entered.append(torch.cuda.StreamContext(self))
            entered[-1].__enter__()
            return self

        def __exit__(self, *exception: Any) -> None:
            self.__dict__["_entered"].pop().__exit__(*exception)

        def __eq__(self, other: object) -> bool:
            return (
                isinstance(other, torch.Stream) and (self.stream_id, self.device) == (other.stream_id, other.device)
            )

        def __hash__(self) -> int:
            return hash((self.stream_id, self.device))

        def __repr__(self) -> str:
            return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    class ExternalStream(Stream):
        """A stream made by another library, known by its address."""

        def __new__(cls, stream_ptr: int, device: Any = None, **_kwargs: Any) -> "ExternalStream":
            index = torch.cuda._utils._get_device_index(device, optional=True)
            return super().__new__(cls, stream_id=stream_ptr, device_index=index)

    class Event(torch.Event):
        """An event that has happened as soon as it is recorded; its times are the host's."""

        def __new__(
            cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
        ) -> "Event":
            event = super().__new__(cls, torch.device("cuda"), enable_timing=enable_timing)
            event._timed = enable_timing
            event._recorded = None
            return event

        _timed: bool
        _recorded: Optional[float]

        @property
        def cuda_event(self) -> int:
            return 0 if self._recorded is None else id(self)

        def record(self, stream: Any = None) -> None:
            self._recorded = time.perf_counter()

        def wait(self, stream: Any = None) -> None:
            pass

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            pass

        def elapsed_time(self, end_event: "Event") -> float:
            """Milliseconds from this event to `end_event`."""
            if not (self._timed and end_event._timed):
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if self._recorded is None or end_event._recorded is None:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
            return (end_event._recorded - self._recorded) * 1e3

        def __repr__(self) -> str:
            return f"<torch.cuda.Event {self.cuda_event:#x}>" if self.cuda_event else "<torch.cuda.Event uninitialized>"

    for cls in (Stream, ExternalStream, Event):
        cls.__module__, cls.__qualname__ = "torch.cuda.streams", cls.__name__
    return Stream, ExternalStream, Event
