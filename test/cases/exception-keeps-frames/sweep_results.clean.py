from __future__ import annotations

import itertools
import traceback
from typing import NamedTuple

import torch
import torch.nn as nn


class Outcome(NamedTuple):
    width: int
    lr: float
    loss: float | None
    error: Exception | None
    where: str = ""


def run_trial(width: int, lr: float, device: torch.device) -> float:
    net = nn.Sequential(nn.Linear(32, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    x = torch.randn(64, 32, device=device)
    y = 10.0 * x.sum(dim=1, keepdim=True)
    value = float("inf")
    for step in range(8):
        loss = nn.functional.mse_loss(net(x), y)
        value = loss.item()
        if value > 1e6 or value != value:
            raise ArithmeticError(f"diverged at step {step}: {value:.3g}")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return value


def sweep(widths, rates, device: torch.device) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for width, lr in itertools.product(widths, rates):
        torch.manual_seed(width)
        try:
            loss = run_trial(width, lr, device)
            outcomes.append(Outcome(width, lr, loss, None))
        except ArithmeticError as exc:
            where = traceback.format_exc(limit=1)
            exc.__traceback__ = None
            outcomes.append(Outcome(width, lr, None, exc, where))
    return outcomes


def report(outcomes: list[Outcome]) -> None:
    for o in outcomes:
        print(o.width, o.lr, f"{o.error}, {len(o.where)} characters of traceback" if o.error else f"{o.loss:.3f}")


if __name__ == "__main__":
    report(sweep((128, 192, 256), (1e-3, 1e-2, 2.0, 8.0), torch.device("cuda" if torch.cuda.is_available() else "cpu")))
