"""The wall between our code and the script: what may pass and what must not."""

import functools
import signal
import threading


def _signal_handler_codes():
    codes = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        function = getattr(handler, "__func__", handler)
        code = getattr(function, "__code__", None)
        if code is not None:
            codes.add(code)
    return codes


def must_pass(error):
    """True when an exception that struck inside our code belongs to the script: Ctrl-C, or whatever a signal handler
    of the script raised (Python runs handlers between any two bytecodes of the main thread, ours included)."""
    try:
        if threading.current_thread() is not threading.main_thread():
            return False
        if isinstance(error, KeyboardInterrupt):
            return True
        codes = _signal_handler_codes()
        frame = error.__traceback__
        while frame is not None:
            if frame.tb_frame.f_code in codes:
                return True
            frame = frame.tb_next
        return False
    except BaseException:
        return False


def shielded(function):
    """Decorator for every function of ours that the script's threads call: errors end here, the result is then None."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if must_pass(error):
                raise
            return None

    return wrapper
