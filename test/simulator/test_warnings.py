"""Our own C++ compiles without a warning: checked once for all files together, so torch's headers are read once."""

from support import ROOT, torch

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import List

from vram_lens_simulator import build

SOURCES = ROOT / "native" / "simulated_cuda"
COMPILER = shutil.which(os.environ.get("CXX") or "g++") or shutil.which("clang++")


def compile_warnings(text: str) -> "subprocess.CompletedProcess[str]":
    """Check C++ `text` with the flags of the build; headers of torch and Python are not ours, so stay silent."""
    flags: List[str] = []
    for flag in build._flags(torch):
        flags += ["-isystem", flag[2:]] if flag.startswith("-I") else [flag]
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "all.cc"
        unit.write_text(text)
        command = [str(COMPILER), *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{SOURCES}", str(unit)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@unittest.skipUnless(COMPILER, "no C++ compiler")
class WarningsTest(unittest.TestCase):
    def test_no_warning_in_our_files(self) -> None:
        units = sorted(SOURCES.glob("*.cc"))
        self.assertGreater(len(units), 5)
        checked = compile_warnings("".join(f'#include "{unit}"\n' for unit in units))
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_a_warning_would_be_seen(self) -> None:
        checked = compile_warnings("int f(int unused) { int left; return 0; }\n")
        self.assertNotEqual(checked.returncode, 0)
        self.assertIn("-Werror=unused-variable", checked.stderr)
        self.assertIn("-Werror=unused-parameter", checked.stderr)


if __name__ == "__main__":
    unittest.main()
