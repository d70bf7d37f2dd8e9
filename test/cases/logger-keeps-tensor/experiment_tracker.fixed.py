from __future__ import annotations

import torch
import torch.nn as nn
from torch import Tensor


class OfflineRun:
    """The part of an experiment tracker that we use, without a server: log() during the run, summary at the end."""

    def __init__(self, project: str, config: dict):
        self.project, self.config = project, config
        self._records: list[dict] = []

    def log(self, data: dict, step: int | None = None) -> None:
        record = {"_step": len(self._records) if step is None else step}
        record.update(data)
        self._records.append(record)

    def history(self, key: str) -> list:
        return [record[key] for record in self._records if key in record]


class DenoisingUNet(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.down, self.mid = nn.Conv2d(1, width, 3, 2, 1), nn.Conv2d(width, width, 3, 1, 1)
        self.up = nn.ConvTranspose2d(width, 1, 4, 2, 1)
        self.time = nn.Linear(1, width)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        h = torch.relu(self.down(x)) + self.time(t[:, None])[:, :, None, None]
        return self.up(torch.relu(self.mid(h)))


def noise_to(x: Tensor, t: Tensor, noise: Tensor) -> Tensor:
    keep = (1 - t).sqrt()[:, None, None, None]
    return keep * x + t.sqrt()[:, None, None, None] * noise


def train(model: nn.Module, run: OfflineRun, device: torch.device) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=run.config["lr"])
    for step in range(run.config["steps"]):
        clean = torch.rand(16, 1, 24, 24, device=device)
        t, noise = torch.rand(16, device=device), torch.randn_like(clean)
        prediction = model(noise_to(clean, t, noise), t)
        per_image = (prediction - noise).square().mean((1, 2, 3))
        optimizer.zero_grad(set_to_none=True)
        per_image.mean().backward()
        optimizer.step()
        with torch.no_grad():
            restored = noise_to(clean, t, noise) - t.sqrt()[:, None, None, None] * prediction
        run.log({"loss": per_image.mean().item(), "lr": optimizer.param_groups[0]["lr"]}, step=step)
        run.log({"samples/restored": restored.cpu(), "samples/t": t.tolist()}, step=step)


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    run = OfflineRun("denoise", {"lr": 2e-3, "steps": 50})
    train(DenoisingUNet().to(device), run, device)
    losses, images = run.history("loss"), run.history("samples/restored")
    print(f"{run.project}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, {len(images)} panels, last {images[-1].mean().item():.3f}")


if __name__ == "__main__":
    main()
