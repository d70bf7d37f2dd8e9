"""When a tensor's bytes are born and when they die: one effect at a time, to the byte."""

from support import CUBLAS_WORKSPACE, SimulatedTestCase, block, torch

import gc
import unittest
from typing import Callable

import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

COUNT = 100_000
FLOATS = block(COUNT * 4)  # 400,384: 400,000 bytes in blocks of 512
BOOLEANS = block(COUNT)


def used() -> int:
    return torch.cuda.memory_allocated()


class LifetimeTest(SimulatedTestCase):
    def kept(self, make: Callable[[], object], expected: int) -> None:
        """What `make` answers keeps `expected` bytes alive, and nothing is left when it is gone."""
        before = used()
        result = make()
        self.assertEqual(used() - before, expected)
        del result
        self.assertEqual(used(), before)

    def peak(self, action: Callable[[], object], expected: int) -> None:
        """`action` needs `expected` bytes at its worst moment beyond those alive before it."""
        before = used()
        torch.cuda.reset_peak_memory_stats()
        action()
        self.assertEqual(torch.cuda.max_memory_allocated() - before, expected)

    def leaf(self) -> Tensor:
        return torch.randn(COUNT, device="cuda", requires_grad=True)

    def test_sizes(self) -> None:
        self.kept(lambda: torch.empty(0, device="cuda"), 0)
        self.kept(lambda: torch.empty(1, device="cuda"), 512)
        self.kept(lambda: torch.empty(129, device="cuda"), 1024)
        self.kept(lambda: torch.randn(COUNT, device="cuda"), FLOATS)

    def test_views_and_in_place_take_nothing(self) -> None:
        tensor = torch.zeros(COUNT, device="cuda")
        self.kept(lambda: tensor.view(100, -1).t()[3:], 0)
        self.peak(lambda: tensor.add_(1).mul_(2), 0)

    def test_a_view_keeps_its_whole_storage(self) -> None:
        self.kept(lambda: torch.randn(COUNT, device="cuda")[:1], FLOATS)

    def test_temporaries_of_an_expression(self) -> None:
        tensor = torch.zeros(COUNT, device="cuda")
        self.peak(lambda: tensor * 2 + 1, 2 * FLOATS)

    def test_concatenation(self) -> None:
        tensor = torch.zeros(COUNT, device="cuda")
        self.kept(lambda: torch.cat([tensor, tensor]), block(2 * COUNT * 4))

    def test_saved_results(self) -> None:
        leaf = self.leaf()

        def five_exponentials() -> Tensor:
            result = leaf
            for _ in range(5):
                result = result.exp()
            return result

        self.kept(five_exponentials, 5 * FLOATS)

    def test_what_operators_save(self) -> None:
        leaf = self.leaf()
        self.kept(lambda: F.gelu(leaf), FLOATS)  # its input, alive anyway
        self.kept(lambda: F.relu(leaf), FLOATS)
        self.kept(lambda: F.dropout(leaf, 0.5, True), FLOATS + BOOLEANS)  # on CUDA the mask is boolean

    def test_backward(self) -> None:
        leaf = self.leaf()
        gradient = torch.ones(COUNT, device="cuda")
        result = leaf.exp().exp()
        # At its worst: the gradient between the two, and the one it becomes.
        self.peak(lambda: result.backward(gradient), 2 * FLOATS)
        del result
        self.assertEqual(used(), 3 * FLOATS)  # leaf, leaf.grad, gradient

    def test_accumulating_a_gradient(self) -> None:
        leaf = self.leaf()
        gradient = torch.ones(COUNT, device="cuda")
        leaf.exp().backward(gradient)
        before = used()
        result = leaf.exp()
        self.peak(lambda: result.backward(gradient), FLOATS)
        del result
        self.assertEqual(used(), before)
        leaf.grad = None
        self.assertEqual(used(), before - FLOATS)

    def test_a_cycle_lives_until_it_is_collected(self) -> None:
        gc.disable()
        self.addCleanup(gc.enable)
        cycle: list = [torch.randn(COUNT, device="cuda")]
        cycle.append(cycle)
        del cycle
        self.assertEqual(used(), FLOATS)
        gc.collect()
        self.assertEqual(used(), 0)

    def test_softmax_of_half_precision(self) -> None:
        halves = torch.randn(100, 1000, device="cuda").half()
        self.peak(lambda: torch.softmax(halves, -1, dtype=torch.float32), FLOATS)

        def under_autocast() -> Tensor:
            with torch.autocast("cuda", dtype=torch.float16):
                return torch.softmax(halves, -1)

        self.kept(under_autocast, FLOATS)  # autocast's list for CUDA says float32

    def test_autocast_keeps_its_cast_weights_inside_only(self) -> None:
        linear = torch.nn.Linear(512, 512, bias=False).cuda()
        inputs = torch.randn(64, 512, device="cuda")
        before = used()
        with torch.autocast("cuda", dtype=torch.float16):
            output = linear(inputs)
            # The weight's and the input's casts (saved for backward), and the output.
            inside = block(512 * 512 * 2) + 2 * block(64 * 512 * 2)
            self.assertEqual(used() - before, inside + CUBLAS_WORKSPACE)
        del output
        self.assertEqual(used() - before, CUBLAS_WORKSPACE)

    def test_checkpointing_keeps_less(self) -> None:
        def layers(tensor: Tensor) -> Tensor:
            return tensor.exp().sin().exp()

        leaf = self.leaf()
        # Each exp saves its result, sin its input, which is the first exp's result: two, and sin's own result dies.
        self.kept(lambda: layers(leaf), 2 * FLOATS)
        self.kept(lambda: checkpoint(layers, leaf, use_reentrant=False), FLOATS)
        checkpoint(layers, leaf, use_reentrant=False).sum().backward()
        assert leaf.grad is not None
        again = leaf.detach().requires_grad_()
        layers(again).sum().backward()
        self.assertTrue(torch.equal(leaf.grad, again.grad))

    def test_cublas_workspace_is_taken_once_per_device(self) -> None:
        square = torch.eye(4, device="cuda")
        before = used()
        square @ square
        self.assertEqual(used() - before, CUBLAS_WORKSPACE)
        square @ square
        torch.bmm(square.unsqueeze(0), square.unsqueeze(0))
        self.assertEqual(used() - before, CUBLAS_WORKSPACE)
        other = torch.eye(4, device="cuda:1")
        other @ other
        self.assertEqual(torch.cuda.memory_allocated(1), 512 + CUBLAS_WORKSPACE)

    def test_two_devices_are_apart(self) -> None:
        tensor = torch.zeros(COUNT, device="cuda:1")
        self.assertEqual((used(), torch.cuda.memory_allocated(1)), (0, FLOATS))
        copy = tensor.to("cuda:0")
        self.assertEqual((used(), torch.cuda.memory_allocated(1)), (FLOATS, FLOATS))
        del tensor
        self.assertEqual((used(), torch.cuda.memory_allocated(1)), (FLOATS, 0))
        del copy


if __name__ == "__main__":
    unittest.main()
