"""Counting steps from the ends of ``Optimizer.step``, on the thread that trains."""

import time
import weakref

_RING = 32
_KNOWN_LIMIT = 4096
_STALE_GAPS = 8
_MUCH_RARER = 1.5


class _Known:
    """One optimizer: how many optimizer ends lie between two of its own (``gap``), smoothed."""

    __slots__ = ("ref", "order", "last", "gap", "count")

    def __init__(self, optimizer, order, now):
        self.ref = weakref.ref(optimizer)
        self.order = order
        self.last = now
        self.gap = 0.0
        self.count = 1


class StepCounter:
    """Turns optimizer ends into steps.

    One optimizer: each end is a step. Several: a step ends with the *marker*, the rarest one that comes regularly
    (the generator of a GAN, the last of one-per-parameter optimizers). The marker is learnt from the second time an
    optimizer is seen, so the first rounds of an uneven pattern may count its more frequent optimizer.
    No lock: only the training thread writes; other threads read single attributes.
    """

    def __init__(self):
        self.step = 0
        self.last_end = 0.0
        """``time.monotonic`` of the newest step's end; 0 before the first."""
        self.last_time_ms = 0
        self._known = {}
        self._marker = None
        self._ends = 0
        self._ring = [0.0] * _RING

    def optimizer_ended(self, optimizer):
        """Note the end of one ``Optimizer.step``; True when a step of the session ended with it."""
        self._ends += 1
        if not self._ends_step(optimizer):
            return False
        now = time.monotonic()
        if self.step:
            self._ring[self.step % _RING] = now - self.last_end
        self.last_end = now
        self.last_time_ms = int(time.time() * 1000)
        self.step += 1
        return True

    def _ends_step(self, optimizer):
        now = self._ends
        known = self._known.get(id(optimizer))
        if known is None or known.ref() is not optimizer:
            known = self._meet(optimizer, now)
            if self._marker is None:
                self._marker = known
            return known is self._marker
        gap = now - known.last
        known.last = now
        known.count += 1
        known.gap = gap if known.count == 2 else 0.75 * known.gap + 0.25 * gap
        marker = self._marker
        if known is marker:
            return True
        age = now - marker.last
        stale = age > _STALE_GAPS * max(marker.gap, 1.0)
        learnt = known.count == 2 and known.gap >= marker.gap and known.order > marker.order
        if stale or learnt or known.gap >= _MUCH_RARER * max(marker.gap, 1.0):
            self._marker = known
            # Where the old marker kept its turn, this round was counted with it already.
            return age > max(marker.gap, 1.0)
        return False

    def _meet(self, optimizer, now):
        if len(self._known) >= _KNOWN_LIMIT:
            self._known = {key: known for key, known in self._known.items() if known.ref() is not None}
            if len(self._known) >= _KNOWN_LIMIT:
                self._known = {}
        known = _Known(optimizer, now, now)
        self._known[id(optimizer)] = known
        return known

    def step_time_s(self):
        """Median time of the last steps in seconds, 0.0 before the second."""
        filled = min(self.step - 1, _RING)
        times = sorted(t for t in list(self._ring) if t > 0.0)
        return times[len(times) // 2] if filled > 0 and times else 0.0

    def since_last_s(self):
        """Seconds since the newest step ended."""
        return time.monotonic() - self.last_end
