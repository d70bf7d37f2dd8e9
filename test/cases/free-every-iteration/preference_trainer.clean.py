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

    def step(self, batch: dict[str, torch.Tensor]) -> float:
        loss = self.compute_loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self, batches: Iterator[dict[str, torch.Tensor]]) -> None:
        self.model.train()
        for batch in batches:
            failed = False
            try:
                self.history.append(self.step(batch))
            except torch.cuda.OutOfMemoryError:
                failed = True
            if failed:
                self.optimizer.zero_grad(set_to_none=True)
                gc.collect()
                torch.cuda.empty_cache()


def preferences(steps: int) -> Iterator[dict[str, torch.Tensor]]:
    direction = torch.randn(24)
    for _ in range(steps):
        base = torch.randn(16, 24)
        yield {"chosen": base + 0.3 * direction, "rejected": base - 0.3 * direction}


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for rate in (0.05, 0.2):
        torch.manual_seed(6)
        trainer = PreferenceTrainer(Reward(), rate, device)
        trainer.train(preferences(8))
        print(f"rate {rate}: {trainer.history[0]:.3f} -> {trainer.history[-1]:.3f}")
        del trainer
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
