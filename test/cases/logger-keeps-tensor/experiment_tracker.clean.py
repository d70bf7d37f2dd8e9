from __future__ import annotations

import torch
import torch.nn as nn

try:
    import pytorch_lightning as pl

    LightningModule = pl.LightningModule
except ImportError:

    class LightningModule(nn.Module):
        def log(self, name, value, **kwargs):
            self.__dict__.setdefault("logged", {})[name] = float(value)

        def log_dict(self, values, **kwargs):
            for name, value in values.items():
                self.log(name, value)


class LitDenoiser(LightningModule):
    def __init__(self, width: int = 16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, width, 3, 1, 1), nn.ReLU(), nn.Conv2d(width, 1, 3, 1, 1))
        self.panel = None

    def training_step(self, batch, batch_idx):
        noise = torch.randn_like(batch)
        prediction = self.net(batch + noise)
        loss = (prediction - noise).square().mean()
        self.log("train/loss", loss, prog_bar=True)
        self.log_dict({"train/noise": noise.std(), "train/step": batch_idx})
        if batch_idx % 5 == 0:
            self.panel = prediction[:2].detach().cpu()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


class ConsoleTracker:
    """Prints at once and remembers best values."""

    def __init__(self):
        self.best: dict[str, float] = {}

    def log(self, data: dict, step: int) -> None:
        for key, value in data.items():
            self.best[key] = min(float(value), self.best.get(key, float("inf")))
        if step % 10 == 0:
            print(step, {key: f"{float(value):.4f}" for key, value in data.items()})


def fit(module: LitDenoiser, tracker: ConsoleTracker, steps: int, device: torch.device) -> None:
    module.to(device)
    optimizer = module.configure_optimizers()
    for step in range(steps):
        loss = module.training_step(torch.rand(8, 1, 24, 24, device=device), step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tracker.log({"loss": loss, "root": loss.detach().sqrt()}, step)


if __name__ == "__main__":
    torch.manual_seed(0)
    tracker = ConsoleTracker()
    fit(LitDenoiser(), tracker, 30, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    print(tracker.best)
