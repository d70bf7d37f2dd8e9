"""What the simulator's tests share: PyTorch with two simulated devices in this process, and fresh child processes.

Import this module before torch. The first run compiles the extension into the ordinary cache (about a minute);
later runs take it from there.
"""

import gc
import os
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = ROOT / "src" / "simulator"

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
DEVICE_0, DEVICE_1 = 24 * GIB, 8 * GIB
# CUBLAS_WORKSPACE_CONFIG's default, ":4096:2:16:8": the first product on a device takes it from the allocator.
CUBLAS_WORKSPACE = (2 * 4096 + 8 * 16) * KIB

assert "torch" not in sys.modules, "import support before torch"
sys.path.insert(0, str(SIMULATOR))
os.environ["VRAM_LENS_SIMULATE"] = "24GiB,8GiB"
for name in ("CUDA_VISIBLE_DEVICES", "CUBLAS_WORKSPACE_CONFIG", "TORCH_DEVICE_BACKEND_AUTOLOAD"):
    os.environ.pop(name, None)

import torch  # noqa: E402


def block(size: int) -> int:
    """Bytes of the block that serves a small request: a multiple of 512."""
    return -(-size // 512) * 512


class SimulatedTestCase(unittest.TestCase):
    """Every test begins on empty devices, which is itself a check: what the one before it made is gone."""

    def setUp(self) -> None:
        torch.cuda.init()
        torch.cuda.set_device(0)
        gc.collect()
        torch._C._cuda_clearCublasWorkspaces()
        torch.cuda.empty_cache()
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)
            torch.cuda.reset_accumulated_memory_stats(device)
            self.assertEqual(torch.cuda.memory_allocated(device), 0, "a live tensor is left from an earlier test")
            self.assertEqual(torch.cuda.memory_reserved(device), 0)
        torch.manual_seed(0)
        # unittest keeps every test object until the end: what a test put on itself must not live on with it.
        framework = set(vars(self))
        self.addCleanup(lambda: [delattr(self, name) for name in set(vars(self)) - framework])


def run_python(
    code: str,
    simulate: Optional[str] = "1GiB",
    environment: Optional[Dict[str, str]] = None,
    arguments: Optional[List[str]] = None,
) -> "subprocess.CompletedProcess[str]":
    """Run `code` in a fresh Python with the simulator on PYTHONPATH; `arguments` replaces `-c code`."""
    variables = {key: value for key, value in os.environ.items() if key != "VRAM_LENS_SIMULATE"}
    variables.update({"PYTHONPATH": str(SIMULATOR), "VRAM_LENS_LANG": "en"})
    if simulate is not None:
        variables["VRAM_LENS_SIMULATE"] = simulate
    variables.update(environment or {})
    command = [sys.executable, *(arguments if arguments is not None else ["-c", textwrap.dedent(code)])]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600)
