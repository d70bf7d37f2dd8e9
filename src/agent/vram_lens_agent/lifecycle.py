"""The session's state, from what is known about its steps and memory."""

IDLE_AT_LEAST_S = 10.0
IDLE_STEP_TIMES = 10


def state(previous, steps, since_last_step_s, step_time_s, used, reserved):
    """The state now. ``steps`` counts finished steps, ``step_time_s`` is their median (0 when unknown); ``used`` and
    ``reserved`` are bytes over all devices, None when the allocator gives none. "idle" means holding memory without
    stepping; a session that holds none keeps its state."""
    if steps == 0:
        if used:
            return "modelOnGpu"
        return previous
    if since_last_step_s <= max(IDLE_AT_LEAST_S, IDLE_STEP_TIMES * step_time_s):
        return "training"
    return "idle" if reserved else previous
