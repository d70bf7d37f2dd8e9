"""Holds GPU memory whose figures are worked out by hand, and does nothing: `python hold.py READY_FILE`."""

import sys
import time

import torch

MIB = 1 << 20


def filled(size: int) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.uint8, device="cuda")


large = [filled(64 * MIB) for _ in range(3)]  # a segment of its own each
small = [filled(MIB // 2) for _ in range(4)]  # together one segment of the small pool, 2 MiB
del large[1]  # 64 MiB releasable
del small[0], small[1]  # the first and the third: 1 MiB stranded in two pieces
with open(sys.argv[1], "w", encoding="utf-8") as ready:
    ready.write("holding")
time.sleep(600)
