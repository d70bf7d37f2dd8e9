import os
import tempfile
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn


@dataclass
class GeneratorConfig:
    latent: int = 32
    width: int = 256
    side: int = 24


class Generator(nn.Module):
    def __init__(self, cfg: GeneratorConfig):
        super().__init__()
        self.cfg = cfg
        self.net = nn.Sequential(nn.Linear(cfg.latent, cfg.width), nn.LeakyReLU(0.2), nn.Linear(cfg.width, cfg.width), nn.LeakyReLU(0.2))
        self.to_image = nn.Linear(cfg.width, 3 * cfg.side * cfg.side)

    def forward(self, z):
        return torch.tanh(self.to_image(self.net(z))).view(-1, 3, self.cfg.side, self.cfg.side)


class Sampler:
    def __init__(self, path, device):
        self.device = device
        state = torch.load(path, map_location="cpu")
        self.cfg = GeneratorConfig(**state["config"])
        self.generator = Generator(self.cfg).to(device).eval()
        self.generator.load_state_dict(state["ema"])

    @torch.inference_mode()
    def contrast(self, count, batch):
        values = []
        for start in range(0, count, batch):
            z = torch.randn(min(batch, count - start), self.cfg.latent, device=self.device)
            values.append(self.generator(z).std().item())
        return sum(values) / len(values)


def pretend_training(path):
    cfg = GeneratorConfig()
    net = Generator(cfg)
    torch.save({"config": asdict(cfg), "generator": net.state_dict(), "ema": Generator(cfg).state_dict()}, path)


def main():
    torch.manual_seed(12)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    path = os.path.join(tempfile.mkdtemp(), "gan.pt")
    pretend_training(path)
    sampler = Sampler(path, device)
    print(sampler.cfg)
    print(f"contrast {sampler.contrast(64, 16):.4f}")
    os.remove(path)


if __name__ == "__main__":
    main()
