import gc
from typing import Iterator

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reward(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x).squeeze(-1)


class PreferenceTrainer:
    def __init__(self, model: nn.Module, lr: float, device: torch.device):
        self.model = model.to(device)
        self.device = device
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.history: list[float] = []

    def compute_loss(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        chosen = self.model(batch["chosen"].to(self.device))
        rejected = self.model(batch["rejected"].to(self.device))
        return -F.logsigmoid(chosen - rejected).mean()

    def train(self, batches: Iterator[dict[str, torch.Tensor]]) -> None:
        self.model.train()
        for batch in batches:
            loss = self.compute_loss(batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.history.append(loss.item())
            gc.collect()  # expect: free-every-iteration
            if self.device.type == "cuda":
                torch.cuda.empty_cache()  # also: free-every-iteration


def preferences(steps: int) -> Iterator[dict[str, torch.Tensor]]:
    direction = torch.randn(24)
    for _ in range(steps):
        base = torch.randn(16, 24)
        yield {"chosen": base + 0.3 * direction, "rejected": base - 0.3 * direction}


if __name__ == "__main__":
    torch.manual_seed(6)
    trainer = PreferenceTrainer(Reward(), 0.2, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    trainer.train(preferences(12))
    print("steps", len(trainer.history))
    print(f"{trainer.history[0]:.3f} -> {trainer.history[-1]:.3f}")
