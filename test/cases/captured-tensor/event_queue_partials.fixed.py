from __future__ import annotations

from functools import partial
from typing import Callable

import torch
import torch.nn as nn


class EventQueue:
    """Collects calls while a run is busy and makes them at its end."""

    def __init__(self):
        self.calls: list[Callable[[], None]] = []

    def post(self, fn, *args):
        self.calls.append(partial(fn, *args))

    def drain(self):
        for call in self.calls:
            call()
        self.calls = []


class Denoiser(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, 128), nn.SiLU(), nn.Linear(128, dim))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


class DiffusionRun:
    def __init__(self, device, dim=64):
        self.device, self.dim = device, dim
        self.model = Denoiser(dim).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.events = EventQueue()

    def log_error(self, step, error):
        if step % 8 == 0:
            print(f"{step}: mean squared error {torch.as_tensor(error).mean().item():.4f}")

    def step(self, number, clean):
        t = torch.rand(len(clean), 1, device=self.device)
        noise = torch.randn_like(clean)
        predicted = self.model((1 - t) * clean + t * noise, t)
        loss = nn.functional.mse_loss(predicted, noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        squared = (predicted.detach() - noise).square()
        self.events.post(self.log_error, number, squared.mean().item())

    def fit(self, steps=24, batch=128):
        for number in range(steps):
            self.step(number, torch.randn(batch, self.dim, device=self.device))
        self.events.drain()


if __name__ == "__main__":
    DiffusionRun(torch.device("cuda" if torch.cuda.is_available() else "cpu")).fit()
