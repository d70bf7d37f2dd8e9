from collections import defaultdict, deque
from typing import Dict, Union

import torch
from torch import nn

Number = Union[int, float, torch.Tensor]


class SmoothedValue:
    def __init__(self, window_size: int = 10):
        self.deque = deque(maxlen=window_size)
        self.total, self.count = 0.0, 0

    def update(self, value: float, n: int = 1) -> None:
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def median(self) -> float:
        return torch.tensor(list(self.deque)).median().item()


class MetricLogger:
    def __init__(self) -> None:
        self.meters: Dict[str, SmoothedValue] = defaultdict(SmoothedValue)

    def update(self, **kwargs: Number) -> None:
        for key, v in kwargs.items():
            if isinstance(v, torch.Tensor):
                v = v.item()
            self.meters[key].update(v)

    def __str__(self) -> str:
        return "  ".join(f"{name}: {meter.median:.4f}" for name, meter in self.meters.items())


class LastValue:
    def __init__(self) -> None:
        self.value = None

    def update(self, value: torch.Tensor) -> None:
        self.value = value.detach()


def train(model: nn.Module, device: torch.device, steps: int = 30) -> MetricLogger:
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    logger, grad_norm = MetricLogger(), LastValue()
    for _ in range(steps):
        x = torch.randn(32, 48, device=device)
        recon = model(x)
        mse = (recon - x).pow(2).mean()
        sparsity = recon.abs().mean()
        loss = mse + 0.1 * sparsity
        optimizer.zero_grad()
        loss.backward()
        grad_norm.update(nn.utils.clip_grad_norm_(model.parameters(), 5.0))
        optimizer.step()
        logger.update(loss=loss, mse=mse, sparsity=sparsity, norm=grad_norm.value, lr=1e-3)
    return logger


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    auto = nn.Sequential(nn.Linear(48, 12), nn.ELU(), nn.Linear(12, 48)).to(dev)
    print(train(auto, dev))
