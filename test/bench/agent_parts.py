"""What the agent costs the script, in microseconds of the interpreter: one sample of one device, and the step hook.

Run: python test/bench/agent_parts.py. Beside each figure stands a floor of the same run: the statistics call itself
(here a stand-in that builds a dict of the real shape and size) and the building of a plain dict of 13 numbers.
"""

import gc
import json
import os
import sys
import time
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "src", "agent"))

from vram_lens_agent import framing, protocol, stats  # noqa: E402
from vram_lens_agent.steps import StepCounter  # noqa: E402

ROUNDS = 9
CALLS = 3000
SAMPLE_BUDGET_US = 60.0
HOOK_BUDGET_US = 30.0

# The families that torch 2.6's own call returns by pool, and its single counts.
FAMILIES = (
    "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes "
    "inactive_split_bytes requested_bytes"
).split()
COUNTS = "max_split_size num_alloc_retries num_device_alloc num_device_free num_ooms num_sync_all_streams".split()


def memory_stats(device):
    """A nested dict as ``torch._C._cuda_memoryStats`` builds it."""
    nested = {name: device for name in COUNTS}
    for family in FAMILIES:
        nested[family] = {
            pool: {"current": 7 << 30, "peak": 9 << 30, "allocated": 1 << 40, "freed": 1 << 40}
            for pool in ("all", "small_pool", "large_pool")
        }
    for name in ("oversize_allocations", "oversize_segments"):
        nested[name] = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
    return nested


class Optimizer:
    """Stands for the script's."""


def fastest_us(function):
    """Microseconds of one call: the fastest of several rounds, so that other programs on the machine count less."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            function()
        best = min(best, time.perf_counter() - begin)
    return best / CALLS * 1e6


def main():
    """Print the figures; with --json as one object."""
    torch = types.SimpleNamespace(
        _C=types.SimpleNamespace(_cuda_memoryStats=memory_stats, _cuda_hasPrimaryContext=lambda index: True),
        cuda=types.SimpleNamespace(device_count=lambda: 1),
    )
    counter, optimizer = StepCounter(), Optimizer()
    keys = list(stats.read(torch, 0, 1))

    def floor():
        memory_stats(0)
        return dict.fromkeys(keys, 1)

    def sample():
        for index in stats.touched_devices(torch):
            framing.frame(protocol.notification("sample", stats.read(torch, index, 1)))

    def read_step():
        counter.optimizer_ended(optimizer)
        return stats.used_bytes(torch)

    gc.disable()
    figures = {
        "floorUs": fastest_us(floor),
        "sampleUs": fastest_us(sample),
        "hookUs": fastest_us(lambda: counter.optimizer_ended(optimizer)),
        "hookReadingUs": fastest_us(read_step),
    }
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    print("floor: statistics call and one dict       {floorUs:7.1f} µs".format(**figures))
    print("one sample of one device, ready to send   {sampleUs:7.1f} µs   (budget {0:.0f})".format(SAMPLE_BUDGET_US, **figures))
    print("  of it the agent's own part              {0:7.1f} µs".format(figures["sampleUs"] - figures["floorUs"]))
    print("step hook, nobody watching or thinned     {hookUs:7.1f} µs   (budget {0:.0f})".format(HOOK_BUDGET_US, **figures))
    print("step hook that reads the memory           {hookReadingUs:7.1f} µs".format(**figures))


if __name__ == "__main__":
    main()
