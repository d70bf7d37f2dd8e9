"""The doors of torch.cuda that answer from the allocator model, and how it refuses."""

from support import DEVICE_0, DEVICE_1, GIB, MIB, SimulatedTestCase, run_python, torch

import pickle
import tempfile
import unittest
import warnings
from pathlib import Path


class DoorsTest(SimulatedTestCase):
    def test_mem_get_info(self) -> None:
        self.assertEqual(torch.cuda.mem_get_info(), (DEVICE_0, DEVICE_0))
        tensor = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
        self.assertEqual(torch.cuda.mem_get_info(0), (DEVICE_0 - 20 * MIB, DEVICE_0))  # a whole segment
        self.assertEqual(torch.cuda.mem_get_info("cuda:1"), (DEVICE_1, DEVICE_1))
        del tensor

    def test_properties(self) -> None:
        self.assertEqual(torch.cuda.device_count(), 2)
        properties = [torch.cuda.get_device_properties(index) for index in range(2)]
        self.assertEqual([each.total_memory for each in properties], [DEVICE_0, DEVICE_1])
        self.assertEqual(torch.cuda.get_device_name(), "Simulated GPU")
        self.assertEqual(torch.cuda.get_device_capability(1), (8, 9))
        self.assertNotEqual(properties[0].uuid, properties[1].uuid)
        self.assertTrue(properties[0].uuid.startswith("SIM-"))
        self.assertTrue(torch.cuda.is_bf16_supported())
        with self.assertRaises(AssertionError):
            torch.cuda.get_device_properties(2)

    def test_it_says_that_it_is_simulated(self) -> None:
        simulation = torch.cuda._vram_lens_simulation
        self.assertEqual(simulation["mode"], "exact")
        self.assertIn("CUDA context", simulation["notModelled"])

    def test_statistics_add_up(self) -> None:
        tensors = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in (100, 5000, 3 * MIB, 19 * MIB)]
        stats = torch.cuda.memory_stats()
        for figure in ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "segment"):
            small, large = stats[f"{figure}.small_pool.current"], stats[f"{figure}.large_pool.current"]
            self.assertEqual(stats[f"{figure}.all.current"], small + large, figure)
        # 100 and 5,000 bytes: blocks of 512 and 5,120 in a segment of 2 MiB; 3 of 20 MiB; 19 of 20, unsplit.
        self.assertEqual(stats["allocated_bytes.small_pool.current"], 512 + 5120)
        self.assertEqual(stats["allocated_bytes.large_pool.current"], (3 + 20) * MIB)
        self.assertEqual(stats["requested_bytes.all.current"], 100 + 5000 + 22 * MIB)
        self.assertEqual(stats["reserved_bytes.all.current"], (2 + 20 + 20) * MIB)
        self.assertEqual(stats["inactive_split_bytes.large_pool.current"], 17 * MIB)
        self.assertEqual(stats["allocation.all.current"], 4)
        del tensors

    def test_peaks_and_their_reset(self) -> None:
        first = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
        second = torch.empty(10 * MIB, dtype=torch.uint8, device="cuda")
        del first
        self.assertEqual(torch.cuda.max_memory_allocated(), 40 * MIB)
        self.assertEqual(torch.cuda.max_memory_reserved(), 40 * MIB)
        torch.cuda.reset_peak_memory_stats()
        self.assertEqual(torch.cuda.max_memory_allocated(), 10 * MIB)
        self.assertEqual(torch.cuda.max_memory_reserved(), 40 * MIB)
        torch.cuda.reset_accumulated_memory_stats()
        self.assertEqual(torch.cuda.memory_stats()["allocated_bytes.all.allocated"], 0)
        del second

    def test_the_cache_serves_again(self) -> None:
        torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
        self.assertEqual((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()), (0, 30 * MIB))
        torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
        self.assertEqual(torch.cuda.memory_reserved(), 30 * MIB)
        torch.cuda.empty_cache()
        self.assertEqual(torch.cuda.memory_reserved(), 0)

    def test_empty_cache_keeps_partly_used_segments(self) -> None:
        halves = [torch.empty(8 * MIB, dtype=torch.uint8, device="cuda") for _ in range(2)]  # one segment of 20 MiB
        del halves[0]
        torch.cuda.empty_cache()
        stats = torch.cuda.memory_stats()
        self.assertEqual(stats["reserved_bytes.all.current"], 20 * MIB)
        self.assertEqual(stats["inactive_split_bytes.all.current"], 12 * MIB)

    def test_summary(self) -> None:
        tensor = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
        summary = torch.cuda.memory_summary()
        self.assertRegex(summary, r"Allocated memory\s+\|\s+30720 KiB")
        self.assertRegex(torch.cuda.memory_summary(1, abbreviated=True), r"GPU reserved memory\s+\|\s+0 B")
        del tensor

    def test_snapshot(self) -> None:
        tensors = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in (100, 3 * MIB)]
        segments = torch.cuda.memory_snapshot()
        self.assertEqual(sum(segment["total_size"] for segment in segments), torch.cuda.memory_reserved())
        self.assertEqual(sum(segment["allocated_size"] for segment in segments), torch.cuda.memory_allocated())
        self.assertEqual(sorted(segment["segment_type"] for segment in segments), ["large", "small"])
        for segment in segments:
            self.assertEqual(segment["device"], 0)
            self.assertEqual(sum(each["size"] for each in segment["blocks"]), segment["total_size"])
        requested = [each["requested_size"] for segment in segments for each in segment["blocks"]]
        self.assertEqual(sorted(size for size in requested if size), [100, 3 * MIB])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "snapshot.pickle"
            torch.cuda.memory._dump_snapshot(str(file))
            self.assertEqual(pickle.loads(file.read_bytes())["segments"], segments)
        del tensors

    def test_history_is_not_recorded_and_says_so(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.memory._record_memory_history()
        self.assertIn("no allocation history", str(caught[0].message))

    def test_raw_allocation(self) -> None:
        address = torch.cuda.caching_allocator_alloc(1000)
        self.assertEqual(torch.cuda.memory_allocated(), 1024)
        torch.cuda.caching_allocator_delete(address)
        self.assertEqual(torch.cuda.memory_allocated(), 0)

    def test_memory_fraction(self) -> None:
        torch.cuda.set_per_process_memory_fraction(20 * MIB / DEVICE_1, 1)
        self.addCleanup(torch.cuda.set_per_process_memory_fraction, 1.0, 1)
        self.assertAlmostEqual(torch.cuda.get_per_process_memory_fraction(1), 20 * MIB / DEVICE_1)
        with self.assertRaises(torch.cuda.OutOfMemoryError):
            torch.empty(22 * MIB, dtype=torch.uint8, device="cuda:1")
        self.assertEqual(torch.empty(16 * MIB, dtype=torch.uint8, device="cuda:1").device.index, 1)


class OutOfMemoryTest(unittest.TestCase):
    """On a device of 24 MiB."""

    def test_text_and_recovery(self) -> None:
        result = run_python(
            """
            import torch
            MIB = 1 << 20
            def take(size):
                return torch.empty(size * MIB, dtype=torch.uint8, device="cuda")
            kept = take(16)
            try:
                take(16)
            except torch.cuda.OutOfMemoryError as error:
                print(error)
            stats = torch.cuda.memory_stats()
            print(stats["num_ooms"], stats["num_alloc_retries"], torch.cuda.memory_allocated() // MIB)
            del kept
            again = take(20)
            print(torch.cuda.memory_allocated() // MIB, torch.cuda.memory_stats()["num_alloc_retries"])
            """,
            "24MiB",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        message, counts, recovered = result.stdout.splitlines()
        self.assertTrue(
            message.startswith(
                "CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of 24.00 MiB "
                "of which 8.00 MiB is free."
            ),
            message,
        )
        self.assertIn("16.00 MiB is allocated by PyTorch", message)
        self.assertEqual(counts, "1 1 16")
        # The cached 16 MiB segment had to be given back first: a second retry.
        self.assertEqual(recovered, "20 2")

    def test_out_of_memory_inside_an_operator(self) -> None:
        result = run_python(
            """
            import torch
            half = torch.ones(3 << 20, device="cuda")  # 12 MiB
            try:
                half + half
                second = half + half
                third = half + half
            except RuntimeError as error:
                print(type(error).__name__, str(error).startswith("CUDA out of memory. Tried to allocate 12.00 MiB."))
            print(torch.cuda.memory_allocated() >> 20)
            del second
            print(torch.cuda.memory_allocated() >> 20, int(half.sum().item()) == 3 << 20)
            """,
            "24MiB",
        )
        self.assertEqual(result.stdout.splitlines(), ["OutOfMemoryError True", "24", "12 True"], result.stderr)

    def test_a_request_beyond_reason(self) -> None:
        result = run_python(
            """
            import torch
            try:
                torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
            except torch.cuda.OutOfMemoryError as error:
                print(str(error)[:51])
            """,
            "24MiB",
        )
        self.assertEqual(result.stdout, "CUDA out of memory. Tried to allocate 1024.00 GiB. \n", result.stderr)


if __name__ == "__main__":
    unittest.main()
