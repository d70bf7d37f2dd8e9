"""As driver.py, for the stub of an old torch (no tensors there: the optimizer's step only counts itself)."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch  # noqa: E402

import fake_cuda  # noqa: E402
import obey  # noqa: E402

MIB = fake_cuda.MIB
cards = fake_cuda.install()


class Descent(torch.optim.Optimizer):
    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return self.steps


optimizer = Descent()
obey.obey(globals())
