"""Used and reserved bytes of small trainings, against sums worked out by hand."""

from support import CUBLAS_WORKSPACE, KIB, MIB, SimulatedTestCase, block, torch

import unittest

from torch import nn

F32 = 4  # bytes


class PerceptronTest(SimulatedTestCase):
    """1024 -> 2944 -> 10 with AdamW.

    The wide weight has 1024 x 2944 x 4 bytes = 11.5 MiB. From 10 MiB on a request gets a segment of its
    own, a multiple of 2 MiB: here 12 MiB. The remainder of 0.5 MiB is not above 1 MiB, so the block is not
    split, and all 12 MiB count as used.
    """

    WIDE = 1024 * 2944 * F32
    WIDE_IN_OWN_SEGMENT = 12 * MIB
    # Small tensors, in blocks of 512 bytes: bias of the first layer, weight and bias of the second.
    SMALL = block(2944 * F32) + block(2944 * 10 * F32) + block(10 * F32)

    def setUp(self) -> None:
        super().setUp()
        self.assertEqual(self.WIDE, 11 * MIB + 512 * KIB)
        self.model = nn.Sequential(nn.Linear(1024, 2944), nn.ReLU(), nn.Linear(2944, 10)).to("cuda")

    def step(self) -> None:
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        inputs = torch.randn(8, 1024, device="cuda")
        targets = torch.randint(10, (8,), device="cuda")
        nn.functional.cross_entropy(self.model(inputs), targets).backward()
        self.optimizer.step()

    def test_parameters(self) -> None:
        self.assertEqual(torch.cuda.memory_allocated(), self.WIDE_IN_OWN_SEGMENT + self.SMALL)
        # One segment of 12 MiB, and one of 2 MiB for everything up to 1 MiB.
        self.assertEqual(torch.cuda.memory_reserved(), 14 * MIB)

    def test_parameters_gradients_and_state(self) -> None:
        self.step()
        # The cuBLAS workspace (8.125 MiB) comes first, from a 20 MiB segment, and is split off. The gradient
        # of the wide weight best fits the 11.875 MiB that are left of it; 0.375 MiB stay unsplit in its block.
        gradient = 20 * MIB - CUBLAS_WORKSPACE
        self.assertEqual(gradient - self.WIDE, 384 * KIB)
        # AdamW's two moments get segments of their own, as the weight did.
        wide = self.WIDE_IN_OWN_SEGMENT + gradient + 2 * self.WIDE_IN_OWN_SEGMENT
        self.assertEqual(torch.cuda.memory_allocated(), wide + 4 * self.SMALL + CUBLAS_WORKSPACE)

    def test_reserved(self) -> None:
        self.step()
        # Weight 12, workspace and gradient 20, two moments 12 each, and 12 that held the square root of the
        # second moment inside the optimizer step; small tensors 2.
        self.assertEqual(torch.cuda.memory_reserved(), (12 + 20 + 12 + 12 + 12 + 2) * MIB)
        segments = torch.cuda.memory_stats()["segment.all.current"]
        self.assertEqual(segments, 6)

    def test_empty_cache_returns_what_is_releasable(self) -> None:
        self.step()
        stats = torch.cuda.memory_stats()
        releasable = (
            stats["reserved_bytes.all.current"]
            - stats["active_bytes.all.current"]
            - stats["inactive_split_bytes.all.current"]
        )
        self.assertEqual(releasable, 12 * MIB)  # the square root's segment
        used, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        torch.cuda.empty_cache()
        self.assertEqual(torch.cuda.memory_reserved(), reserved - releasable)
        self.assertEqual(torch.cuda.memory_allocated(), used)

    def test_gradients_set_to_none(self) -> None:
        self.step()
        self.optimizer.zero_grad()
        wide = 3 * self.WIDE_IN_OWN_SEGMENT
        self.assertEqual(torch.cuda.memory_allocated(), wide + 3 * self.SMALL + CUBLAS_WORKSPACE)

    def test_everything_deleted(self) -> None:
        self.step()
        del self.optimizer, self.model
        self.assertEqual(torch.cuda.memory_allocated(), CUBLAS_WORKSPACE)


class ConvolutionTest(SimulatedTestCase):
    """3 x 8 x 8 -> convolution -> batch norm -> ReLU -> 1024 -> 10, with SGD and momentum."""

    PARAMETERS = (
        block(16 * 3 * 3 * 3 * F32)  # convolution: 1,728 bytes in 2,048
        + block(16 * F32)  # its bias
        + 2 * block(16 * F32)  # batch norm: weight, bias
        + block(1024 * 10 * F32)
        + block(10 * F32)
    )
    BUFFERS = 2 * block(16 * F32) + block(8)  # running mean and variance; a count (int64)

    def setUp(self) -> None:
        super().setUp()
        layers = (nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))
        self.model = nn.Sequential(*layers).to("cuda")

    def test_parameters_and_buffers(self) -> None:
        self.assertEqual(torch.cuda.memory_allocated(), self.PARAMETERS + self.BUFFERS)

    def test_saved_for_backward(self) -> None:
        images = torch.randn(4, 3, 8, 8, device="cuda")
        before = torch.cuda.memory_allocated()
        output = self.model(images)
        feature_map = block(4 * 16 * 8 * 8 * F32)
        kept = (
            feature_map  # the convolution's result: batch norm saves its input
            + 2 * block(16 * F32)  # batch norm's mean and inverse deviation of this batch
            + feature_map  # ReLU saves its result, which is also the linear layer's input
            + block(4 * 10 * F32)  # the output
        )
        self.assertEqual(torch.cuda.memory_allocated() - before, kept + CUBLAS_WORKSPACE)
        del output
        self.assertEqual(torch.cuda.memory_allocated() - before, CUBLAS_WORKSPACE)

    def test_step(self) -> None:
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        images = torch.randn(4, 3, 8, 8, device="cuda")
        self.model(images).sum().backward()
        optimizer.step()
        del images
        # Parameters, gradients, momentum.
        self.assertEqual(torch.cuda.memory_allocated(), 3 * self.PARAMETERS + self.BUFFERS + CUBLAS_WORKSPACE)

    def test_no_grad_keeps_nothing(self) -> None:
        before = torch.cuda.memory_allocated()
        with torch.no_grad():
            self.model(torch.randn(4, 3, 8, 8, device="cuda"))
        self.assertEqual(torch.cuda.memory_allocated() - before, CUBLAS_WORKSPACE)


class DriftTest(SimulatedTestCase):
    def test_a_thousand_steps_do_not_drift(self) -> None:
        model = nn.Sequential(nn.Linear(16, 32), nn.Dropout(), nn.GELU(), nn.Linear(32, 4)).to("cuda")
        optimizer = torch.optim.AdamW(model.parameters())
        figures = ("allocated_bytes", "requested_bytes", "active_bytes", "reserved_bytes", "allocation", "segment")

        def step() -> None:
            optimizer.zero_grad()
            model(torch.randn(8, 16, device="cuda")).square().mean().backward()
            optimizer.step()

        def current() -> list:
            stats = torch.cuda.memory_stats()
            return [stats[f"{figure}.all.current"] for figure in figures]

        for _ in range(10):
            step()
        after_ten = current()
        for _ in range(990):
            step()
        self.assertEqual(current(), after_ten)
        stats = torch.cuda.memory_stats()
        for figure in figures:
            key = f"{figure}.all"
            born_less_dead = stats[f"{key}.allocated"] - stats[f"{key}.freed"]
            self.assertEqual(born_less_dead, stats[f"{key}.current"], figure)


if __name__ == "__main__":
    unittest.main()
