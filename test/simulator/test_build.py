"""Compiling and caching the extension, with stand-ins for the compiler: a script that counts how often it is called."""

from support import ROOT, run_python, torch

import stat
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict

sys.path.insert(0, str(ROOT / "src" / "simulator"))

from vram_lens_simulator import build  # noqa: E402

SCRIPT = "import torch; print(torch.ones(2, device='cuda').sum().item())"


class BuildTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache" / "vram-lens" / "simulated_cuda"

    def environment(self, **more: str) -> Dict[str, str]:
        return {"XDG_CACHE_HOME": str(self.folder / "cache"), **more}

    def compiler(self, body: str) -> str:
        """A stand-in compiler: a shell script that notes each call in `calls` and then runs `body`."""
        script = self.folder / "compiler"
        script.write_text(f'#!/bin/sh\necho "$*" >> "{self.folder}/calls"\n{body}\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    def calls(self) -> int:
        return len((self.folder / "calls").read_text().splitlines())

    def copying_compiler(self) -> str:
        """Links by copying the extension that the real compiler built; slow enough for two processes to meet."""
        built = build.ensure_built(torch)
        find_output = 'while [ "$1" != -o ]; do shift; done'
        return self.compiler(f'case " $* " in *" -shared "*) sleep 1; {find_output}; cp "{built}" "$2";; esac')

    def test_no_compiler(self) -> None:
        result = run_python(SCRIPT, environment=self.environment(PATH=str(self.folder), CXX=""))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"\AVRAM Lens: .* needs a C\+\+ compiler, .* apt install g\+\+.*\n\Z")
        self.assertFalse([path for path in self.cache.iterdir() if path.is_dir()])

    def test_a_failed_compile_leaves_nothing_behind(self) -> None:
        compiler = self.compiler("echo 'some note' >&2; echo 'device.cc:7:1: error: no such thing' >&2; exit 1")
        result = run_python(SCRIPT, environment=self.environment(CXX=compiler))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        preparing, failed = result.stderr.splitlines()
        self.assertIn("once, about a minute", preparing)
        self.assertIn("device.cc:7:1: error: no such thing", failed)
        log = Path(failed[failed.index("full log: ") + len("full log: ") : -1])
        self.assertIn("some note", log.read_text())
        self.assertEqual({path.suffix for path in self.cache.iterdir()}, {".log", ".lock"})

    def test_a_compiler_that_writes_no_library(self) -> None:
        result = run_python(SCRIPT, environment=self.environment(CXX=self.compiler("exit 0")))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("VRAM Lens: the compiled simulated device could not be loaded", result.stderr)

    def test_a_library_that_cannot_be_loaded_is_built_anew(self) -> None:
        environment = self.environment(CXX=self.copying_compiler())
        run_python(SCRIPT, environment=environment)
        (library,) = self.cache.glob("*/*.so")
        library.write_text("damaged")
        damaged = run_python(SCRIPT, environment=environment)
        self.assertEqual((damaged.returncode, damaged.stdout), (2, ""))
        self.assertEqual(run_python(SCRIPT, environment=environment).stdout, "2.0\n")

    def test_compiled_once_then_taken_from_the_cache(self) -> None:
        environment = self.environment(CXX=self.copying_compiler())
        first = run_python(SCRIPT, environment=environment)
        self.assertEqual(first.stdout, "2.0\n", first.stderr)
        preparing, ready = first.stderr.splitlines()
        self.assertIn(f"for torch {torch.__version__}", preparing)
        self.assertIn("is ready", ready)
        calls = self.calls()
        second = run_python(SCRIPT, environment=environment)
        self.assertEqual((second.stdout, second.stderr), ("2.0\n", ""))
        self.assertEqual(self.calls(), calls)

    def test_two_processes_at_once_compile_once(self) -> None:
        environment = self.environment(CXX=self.copying_compiler())
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda _: run_python(SCRIPT, environment=environment), range(2)))
        self.assertEqual([result.stdout for result in results], ["2.0\n", "2.0\n"], results)
        commands = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(len([command for command in commands if "-shared" in command]), 1)
        self.assertEqual(len(commands), len(set(commands)))

    def test_a_cache_that_cannot_be_written(self) -> None:
        blocked = self.folder / "file"
        blocked.write_text("")
        result = run_python(SCRIPT, environment={"XDG_CACHE_HOME": str(blocked)})
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("cannot be used", result.stderr)

    def test_two_jobs_at_most(self) -> None:
        marks = self.folder / "running"
        marks.mkdir()
        body = f'touch "{marks}/$$"; ls "{marks}" | wc -l >> "{self.folder}/most"; sleep 0.2; rm "{marks}/$$"'
        run_python(SCRIPT, environment=self.environment(CXX=self.compiler(body)))
        most = max(int(line) for line in (self.folder / "most").read_text().split())
        self.assertLessEqual(most, build.PARALLEL_JOBS)


if __name__ == "__main__":
    unittest.main()
