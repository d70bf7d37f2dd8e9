"""Runs an unchanged CUDA script on the CPU, against a model of PyTorch's caching allocator.

`import torch` calls `autoload` through the `torch.backends` entry point beside this package
(torch 2.5 and later). Without VRAM_LENS_SIMULATE in the environment it does nothing.

    VRAM_LENS_SIMULATE=24GiB          one device
    VRAM_LENS_SIMULATE=24GiB,8GiB     two devices
"""

import os
import sys


def autoload() -> None:
    """Put simulated CUDA devices into this process when the environment asks for them.

    Whatever goes wrong ends the process with one sentence on stderr and exit code 2: a script that
    was to run on a simulated GPU must not run on something else unnoticed. SystemExit is the only
    exception that leaves: torch would turn any other into a RuntimeError about "backend extensions".
    """
    request = os.environ.get("VRAM_LENS_SIMULATE", "").strip()
    if not request:
        return
    from .messages import SimulatorError, text

    try:
        from .activation import activate

        activate(request)
    except SimulatorError as error:
        sentence = str(error)
    except Exception as error:  # a defect of ours, or a torch that we do not know
        sentence = text("unexpected", reason=f"{type(error).__name__}: {error}")
    else:
        return
    print(f"VRAM Lens: {sentence}", file=sys.stderr, flush=True)
    raise SystemExit(2)
