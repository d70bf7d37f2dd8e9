"""How long one sample of one device holds the GIL, beside torch's own statistics call alone. Budget: 60 us.

Every part of a sample is Python or a C call that keeps the GIL, so the thread's CPU time is the GIL's time.
"""

import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "dist", "agent"))

from vram_lens_agent import protocol, stats  # noqa: E402

ROUNDS = 60
CALLS = 200


def microseconds(call):
    begin = time.thread_time()
    for _ in range(CALLS):
        call()
    return (time.thread_time() - begin) / CALLS * 1e6


def sample():
    """What the agent does per device and tick with one client: find the devices, read one, write the message."""
    (index,) = stats.touched_devices(torch)
    protocol.notification("sample", stats.read(torch, index, int(time.time() * 1000)))


def main():
    held = [torch.ones(1000 * (n % 50 + 1), device="cuda") for n in range(500)]
    floors, ours = [], []
    # By turns, so that a busy moment of the machine meets both.
    for _ in range(ROUNDS):
        floors.append(microseconds(lambda: torch._C._cuda_memoryStats(0)))
        ours.append(microseconds(sample))
    floor, mine = statistics.median(floors), statistics.median(ours)
    where = "simulated GPU" if stats.simulation(torch) else torch.cuda.get_device_name()
    print(
        f"one sample {mine:.1f} us of GIL, budget 60 us; torch's statistics alone {floor:.1f} us "
        f"({where}, {len(held)} tensors): {mine / floor:.2f} x"
    )


if __name__ == "__main__":
    main()
