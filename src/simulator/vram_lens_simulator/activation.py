"""From the request in the environment to a process with simulated devices."""

import os
import sys
from typing import List

from . import build
from .messages import SimulatorError, text
from .sizes import format_size, parse_size

# The smallest segment the caching allocator asks the driver for (kSmallBuffer of
# c10/cuda/CUDACachingAllocator.h): a device below it could hold no tensor at all.
LEAST_MEMORY = 2 << 20
# As many as a machine has in practice, and as many as the extension takes (native/simulated_cuda/module.cc).
MOST_DEVICES = 16


def parse_request(request: str) -> List[int]:
    """The total memory in bytes of each device that VRAM_LENS_SIMULATE asks for."""
    parts = request.split(",")
    if len(parts) > MOST_DEVICES:
        raise SimulatorError(text("too_many", most=MOST_DEVICES, count=len(parts)))
    totals = []
    for part in parts:
        try:
            total = parse_size(part)
        except ValueError:
            raise SimulatorError(text("bad_size", value=request)) from None
        if total < LEAST_MEMORY:
            raise SimulatorError(text("too_small", least=format_size(LEAST_MEMORY), value=part.strip()))
        totals.append(total)
    return totals


def activate(request: str) -> None:
    """Install simulated devices as VRAM_LENS_SIMULATE's value `request` says. Raises SimulatorError."""
    import torch

    totals = parse_request(request)
    visible = _visible_devices(len(totals))
    if not visible:
        hidden = text("hidden", value=os.environ.get("CUDA_VISIBLE_DEVICES", ""))
        print(f"VRAM Lens: {hidden}", file=sys.stderr, flush=True)
        return
    native = build.load(build.ensure_built(torch))

    from .facade import install

    install(native, [totals[index] for index in visible])


def _visible_devices(count: int) -> List[int]:
    """The devices CUDA_VISIBLE_DEVICES leaves, in its order; names of real cards in it are ignored."""
    from torch.cuda import _parse_visible_devices

    named = _parse_visible_devices()
    if any(isinstance(entry, str) for entry in named):
        return list(range(count))
    visible = []
    for index in named:
        if index >= count:  # the driver stops at the first number it does not know
            break
        visible.append(index)
    return visible
