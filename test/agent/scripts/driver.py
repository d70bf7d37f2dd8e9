"""The script of most tests: does what its standard input says, one line at a time, and answers each in JSON."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch  # noqa: E402

import fake_cuda  # noqa: E402
import obey  # noqa: E402

MIB = fake_cuda.MIB
cards = fake_cuda.install()
optimizers = {}


# As it is it imports torch._dynamo, which takes seconds and plays no part here.
add_param_group = torch.optim.Optimizer.add_param_group
torch.optim.Optimizer.add_param_group = getattr(add_param_group, "__wrapped__", add_param_group)


class Descent(torch.optim.Optimizer):
    """A real optimizer with the plainest of steps."""

    def __init__(self, weights):
        super().__init__(weights, {"lr": 0.1})

    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.data.add_(weight.grad, alpha=-group["lr"])


def start():
    """What a script's first CUDA call does."""
    torch.cuda._lazy_init()


def step(name="main"):
    """One optimizer step, really through torch."""
    if name not in optimizers:
        weight = torch.nn.Parameter(torch.zeros(2))
        weight.grad = torch.ones(2)
        optimizers[name] = Descent([weight])
    optimizers[name].step()


obey.obey(globals())
