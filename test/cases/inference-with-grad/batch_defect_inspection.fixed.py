import json
import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("inspect")


class Scorer(nn.Module):
    def __init__(self, ch: int = 12):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.GELU(), nn.MaxPool2d(2),
            nn.Conv2d(ch, ch, 3, padding=1), nn.GELU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        )
        self.out = nn.Linear(ch * 16, 2)

    def forward(self, x):
        return self.out(self.enc(x))


class Inspector:
    """Scores every tile of an image and keeps the worst one."""

    def __init__(self, net: nn.Module, device: torch.device, threshold: float = 0.5):
        self.net = net.to(device).eval()
        self.device = device
        self.threshold = threshold
        self.results = {}

    def _probability(self, tiles: torch.Tensor) -> torch.Tensor:
        return self.net(tiles.to(self.device)).softmax(dim=1)[:, 1]

    @torch.inference_mode()
    def inspect(self, stream):
        for image_id, tiles in stream:
            worst, where = self._probability(tiles).max(dim=0)
            self.results[image_id] = {"score": worst, "tile": where.item()}
        return len(self.results)

    def report(self) -> str:
        rejected = [i for i, r in self.results.items() if r["score"] > self.threshold]
        return json.dumps({"images": len(self.results), "rejected": len(rejected)})


def camera(n: int):
    generator = torch.Generator().manual_seed(5)
    for i in range(n):
        yield f"part-{i:04d}", torch.rand(9, 1, 24, 24, generator=generator)


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    inspector = Inspector(Scorer(), device)
    log.info("inspected %d images", inspector.inspect(camera(40)))
    log.info(inspector.report())


if __name__ == "__main__":
    main()
