"""Lazy initialisation with queued calls, as old torch behaves."""

import threading
import traceback

import torch._C

_initialized = False
_queued_calls = []
_initialization_lock = threading.Lock()


class DeferredCudaCallError(Exception):
    pass


def is_initialized():
    return _initialized


def _lazy_call(callable):
    if is_initialized():
        callable()
    else:
        _queued_calls.append((callable, traceback.format_stack()))


def _lazy_init():
    global _initialized
    with _initialization_lock:
        if _initialized:
            return
        torch._C._cuda_init()
        for queued, _ in _queued_calls:
            try:
                queued()
            except Exception as error:
                raise DeferredCudaCallError(str(error)) from error
        _initialized = True


def empty_cache():
    if is_initialized():
        torch._C._cuda_emptyCache()
