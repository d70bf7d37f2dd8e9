"""samples/train.py, unchanged, on a simulated device."""

from support import GIB, MIB, ROOT, run_python

import json
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List

TRAIN = str(ROOT / "samples" / "train.py")


class SampleTest(unittest.TestCase):
    def train(self, *arguments: str, device: str = "cuda") -> "tuple[List[str], List[Dict[str, int]]]":
        """The printed lines and the reported figures of one training."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.jsonl"
            command = [TRAIN, "--device", device, "--report", str(report), *arguments]
            result = run_python("", "24GiB", arguments=command)
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            return result.stdout.splitlines(), [json.loads(line) for line in report.read_text().splitlines()]

    def test_three_steps(self) -> None:
        lines, figures = self.train("--steps", "3")
        self.assertEqual(len(lines), 3)
        self.assertEqual([each["step"] for each in figures], [1, 2, 3])
        # Between steps only parameters, gradients, state and two small batches live: the same every time.
        self.assertEqual(len({each["memory_allocated"] for each in figures}), 1)
        used, reserved, peak = (figures[-1][key] for key in ("memory_allocated", "memory_reserved", "max_memory_allocated"))
        # 16.8 million parameters, four times, are 257 MiB.
        self.assertTrue(257 * MIB < used < peak <= reserved < 1.5 * GIB, figures)

    def test_the_leak_grows_by_the_same_amount_each_step(self) -> None:
        _, figures = self.train("--steps", "4", "--leak")
        used = [each["memory_allocated"] for each in figures]
        growth = {later - earlier for earlier, later in zip(used, used[1:])}
        self.assertEqual(len(growth), 1, used)
        self.assertGreater(growth.pop(), 5 * MIB)

    def test_on_the_cpu_nothing_is_used(self) -> None:
        _, figures = self.train("--steps", "1", device="cpu")
        self.assertEqual(figures[0], {"step": 1, "memory_allocated": 0, "memory_reserved": 0, "max_memory_allocated": 0})


if __name__ == "__main__":
    unittest.main()
