"""Returning cached memory to the driver, at a safe point inside the session."""

import gc
import time

from vram_lens_agent import stats

WAIT_AT_MOST_S = 30.0
WAIT_AT_LEAST_S = 2.0
WAIT_STEP_TIMES = 20
_MESSAGE_LIMIT = 500


def wait_s(step_time_s):
    """How long to wait for a step's end before the agent's thread does it, from the median step time."""
    return min(WAIT_AT_MOST_S, max(WAIT_AT_LEAST_S, WAIT_STEP_TIMES * step_time_s))


def _samples(torch):
    time_ms = int(time.time() * 1000)
    return {index: stats.read(torch, index, time_ms) for index in stats.touched_devices(torch)}


def _refusal(error):
    message = "{}: {}".format(type(error).__name__, error).split("\n")[0][:_MESSAGE_LIMIT]
    reason = "capture" if "captur" in str(error).lower() else "failed"
    return {"done": False, "reason": reason, "message": message}


def free_cache(torch, where):
    """Empty the allocator's cache on all devices; the result of the ``freeCache`` request.

    ``where`` is "afterStep" on the thread that trains, "idle" on ours. Garbage is collected only in the first case:
    finalizers of GUI objects abort the process when they run on another thread. torch refuses by itself while a CUDA
    graph is being captured (https://github.com/pytorch/pytorch/issues/159594).
    """
    try:
        before = _samples(torch)
        if where == "afterStep":
            gc.collect()
        torch.cuda.empty_cache()
        after = _samples(torch)
        devices = []
        for index, now in sorted(after.items()):
            reserved = before.get(index, now)["reservedBytes"]
            devices.append(
                {
                    "index": index,
                    "reservedBeforeBytes": reserved,
                    "reservedAfterBytes": now["reservedBytes"],
                    "returnedBytes": max(0, reserved - now["reservedBytes"]),
                    "strandedBytes": now["strandedBytes"],
                    "usedBytes": now["usedBytes"],
                }
            )
    except Exception as error:
        return _refusal(error)
    return {"done": True, "where": where, "collected": where == "afterStep", "devices": devices}


class FreeRequest:
    """Clients waiting for one run of ``free_cache``. The thread that trains takes it by ``claim``."""

    def __init__(self, deadline):
        self.deadline = deadline
        self.waiting = []
        self.result = None
        self._unclaimed = [True]

    def claim(self):
        """True for exactly one caller on any thread (``list.pop`` is atomic)."""
        try:
            return self._unclaimed.pop()
        except IndexError:
            return False
