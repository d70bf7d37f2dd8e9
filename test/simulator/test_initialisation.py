"""torch.cuda's lazy initialisation in fresh processes, and what the environment says."""

from support import ROOT, run_python

import os
import sys
import unittest

sys.path.insert(0, str(ROOT / "src" / "simulator"))

from vram_lens_simulator.activation import parse_request  # noqa: E402
from vram_lens_simulator.messages import _CHINESE, _ENGLISH, SimulatorError  # noqa: E402
from vram_lens_simulator.sizes import format_size, parse_size  # noqa: E402


class LazinessTest(unittest.TestCase):
    def test_not_before_the_first_use(self) -> None:
        result = run_python(
            """
            import torch
            calls = []
            torch.cuda._lazy_call(lambda: calls.append("queued"))
            torch.cuda.manual_seed_all(7)
            assert torch.cuda.is_available() and torch.cuda.device_count() == 1
            assert torch.cuda.memory_allocated() == 0 and torch.cuda.memory_stats() == {}
            torch.zeros(3)
            print(torch.cuda.is_initialized(), calls)
            first = torch.randn(3, device="cuda")
            print(torch.cuda.is_initialized(), calls)
            torch.cuda._lazy_call(lambda: calls.append("at once"))
            torch.cuda.manual_seed_all(7)
            print(calls, torch.equal(first, torch.randn(3, device="cuda")))
            """
        )
        expected = ["False []", "True ['queued']", "['queued', 'at once'] True"]
        self.assertEqual(result.stdout.splitlines(), expected, result.stderr)
        self.assertEqual(result.stderr, "")

    def test_moving_a_tensor_is_a_first_use(self) -> None:
        result = run_python(
            "import torch; m = torch.nn.Linear(1, 1); m.cuda(); print(torch.cuda.is_initialized(), m.weight.device)"
        )
        self.assertEqual(result.stdout, "True cuda:0\n", result.stderr)

    def test_a_forked_child(self) -> None:
        result = run_python(
            """
            import os, torch
            def child():
                try:
                    print(torch.zeros(1, device="cuda").device, flush=True)
                except RuntimeError as error:
                    print(str(error)[:46], torch.cuda.is_initialized(), flush=True)
            def fork():
                pid = os.fork()
                if pid == 0:
                    child()
                    os._exit(0)
                os.waitpid(pid, 0)
            fork()
            torch.zeros(1, device="cuda")
            fork()
            """
        )
        before, after = result.stdout.splitlines()
        self.assertEqual(before, "cuda:0", result.stderr)
        self.assertEqual(after, "Cannot re-initialize CUDA in forked subprocess False")

    def test_spawned_workers_are_silent(self) -> None:
        result = run_python(
            """
            import threading, torch
            from torch.utils.data import DataLoader, TensorDataset
            if __name__ == "__main__":
                torch.zeros(1, device="cuda")
                data = TensorDataset(torch.arange(8.0))
                loader = DataLoader(data, 4, num_workers=2, pin_memory=True, multiprocessing_context="spawn")
                print(sum(batch.to("cuda", non_blocking=True).sum().item() for (batch,) in loader))
                # The queues' daemon threads hold the last references to their locks. Where the interpreter ends between
                # the two halves of a lock's removal, Python's resource tracker speaks of a leaked semaphore.
                for thread in threading.enumerate():
                    if thread.name == "QueueFeederThread":
                        thread.join(60)
            """
        )
        self.assertEqual((result.stdout, result.stderr), ("28.0\n", ""))


class EnvironmentTest(unittest.TestCase):
    def test_nothing_happens_unasked(self) -> None:
        result = run_python(
            "import torch; print(torch.cuda.is_available(), hasattr(torch.cuda, '_vram_lens_simulation'))", simulate=None
        )
        self.assertEqual(result.stdout, f"{os.path.exists('/dev/nvidiactl')} False\n", result.stderr)

    def test_bad_requests_end_in_one_sentence(self) -> None:
        for request, part in (("lots", "is not a memory size"), ("24GiB,", "is not a memory size"), ("1KiB", "at least 2 MiB")):
            with self.subTest(request):
                result = run_python("import torch; print('imported')", request)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(part, result.stderr)

    def test_chinese(self) -> None:
        result = run_python("import torch", "lots", {"VRAM_LENS_LANG": "zh-cn"})
        self.assertIn("不是有效的显存大小", result.stderr)

    def test_both_languages_say_everything(self) -> None:
        self.assertEqual(_ENGLISH.keys(), _CHINESE.keys())

    def test_visible_devices(self) -> None:
        code = "import torch; print([torch.cuda.get_device_properties(i).total_memory >> 30 for i in range(torch.cuda.device_count())])"
        for visible, expected in (("1", "[2]"), ("1,0", "[2, 1]"), ("0,7", "[1]"), ("", "[]")):
            with self.subTest(visible):
                result = run_python(code, "1GiB,2GiB", {"CUDA_VISIBLE_DEVICES": visible})
                self.assertEqual(result.stdout.strip(), expected, result.stderr)

    def test_sizes(self) -> None:
        for written, expected in (("24GiB", 24 << 30), ("24 gb", 24 << 30), ("512m", 512 << 20), ("1.5G", 3 << 29), ("9", 9)):
            self.assertEqual(parse_size(written), expected, written)
        for wrong in ("", "GiB", "-1GiB", "1e3", "24GiB8"):
            with self.assertRaises(ValueError, msg=wrong):
                parse_size(wrong)
        self.assertEqual(format_size(2 << 20), "2 MiB")
        self.assertEqual(format_size(3 << 29), "1.50 GiB")

    def test_too_many_devices(self) -> None:
        with self.assertRaises(SimulatorError):
            parse_request(",".join(["1GiB"] * 17))


if __name__ == "__main__":
    unittest.main()
