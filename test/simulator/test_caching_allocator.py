"""Compiles and runs the C++ tests of the allocator model, with the address and undefined-behaviour sanitizers."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent.parent / "native" / "simulated_cuda"
COMPILER = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")


class CachingAllocatorTest(unittest.TestCase):
    @unittest.skipUnless(COMPILER, "no C++ compiler")
    def test_model(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "caching_allocator_test"
            sources = [HERE / "caching_allocator_test.cc", MODEL / "caching_allocator.cc"]
            flags = ["-std=c++20", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
            flags.append("-fno-sanitize-recover=undefined")
            command = [COMPILER, *flags, f"-I{MODEL}", *map(str, sources), "-o", str(program)]
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(built.returncode, 0, built.stderr)
            ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertRegex(ran.stdout, r"^\d{5,} checks, 0 failed$")


if __name__ == "__main__":
    unittest.main()
