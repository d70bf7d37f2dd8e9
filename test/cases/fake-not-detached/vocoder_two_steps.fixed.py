import itertools
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    mels: int = 20
    hop: int = 64
    frames: int = 16
    batch: int = 8
    steps: int = 14
    lr: float = 2e-4


class Vocoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.pre = nn.Conv1d(cfg.mels, 64, 7, padding=3)
        self.up = nn.ConvTranspose1d(64, 32, cfg.hop, stride=cfg.hop)
        self.res = nn.ModuleList(nn.Conv1d(32, 32, 3, padding=d, dilation=d) for d in (1, 3, 9))
        self.post = nn.Conv1d(32, 1, 7, padding=3)

    def forward(self, mel):
        h = self.up(F.leaky_relu(self.pre(mel), 0.1))
        for conv in self.res:
            h = h + conv(F.leaky_relu(h, 0.1))
        return torch.tanh(self.post(h))


class WaveDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(1, 8, 15, 4), nn.Conv1d(8, 16, 15, 4), nn.Conv1d(16, 1, 3)])

    def forward(self, wav):
        for layer in self.layers[:-1]:
            wav = F.leaky_relu(layer(wav), 0.1)
        return self.layers[-1](wav).flatten(1)


class VocoderTrainer:
    def __init__(self, cfg, device):
        self.cfg, self.device = cfg, device
        self.generator, self.disc = Vocoder(cfg).to(device), WaveDiscriminator().to(device)
        self.optim_g = torch.optim.AdamW(self.generator.parameters(), cfg.lr)
        self.optim_d = torch.optim.AdamW(self.disc.parameters(), cfg.lr)

    def discriminator_step(self, mel, wav):
        with torch.no_grad():
            y_hat = self.generator(mel)
        real_score, fake_score = self.disc(wav), self.disc(y_hat)
        loss = (1 - real_score).pow(2).mean() + fake_score.pow(2).mean()
        self.optim_d.zero_grad()
        loss.backward()
        self.optim_d.step()
        return loss.item()

    def generator_step(self, mel, wav):
        y_hat = self.generator(mel)
        loss = (1 - self.disc(y_hat)).pow(2).mean() + 45 * F.l1_loss(y_hat, wav)
        self.optim_g.zero_grad()
        loss.backward()
        self.optim_g.step()
        return loss.item()


if __name__ == "__main__":
    cfg = Config()
    trainer = VocoderTrainer(cfg, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for step in itertools.islice(itertools.count(1), cfg.steps):
        mel = torch.randn(cfg.batch, cfg.mels, cfg.frames, device=trainer.device)
        wav = torch.rand(cfg.batch, 1, cfg.frames * cfg.hop, device=trainer.device) - 0.5
        d = trainer.discriminator_step(mel, wav)
        if step % 5 == 0:
            print(f"{step:4d} d={d:.3f} g={trainer.generator_step(mel, wav):.3f}")
