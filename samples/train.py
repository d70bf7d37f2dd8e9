"""Trains a small convolutional classifier on images it makes itself.

    python train.py                      until 2,000 steps are done, or Ctrl-C
    python train.py --leak               with the classic memory leak switched on
    python train.py --device cpu --steps 5

The task: 64 x 64 images of stripes in noise; the class is the direction of the stripes.
Nothing here knows about VRAM Lens. Open the "GPU Memory" panel, start this file in the
terminal, and watch where its memory goes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import TextIO

import torch
from torch import Tensor, nn

CLASSES = 8
IMAGE = 64  # pixels on a side
EVALUATE_EVERY = 20  # steps


class StripeNet(nn.Module):
    """Three convolutions, then a wide hidden layer that carries most of the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(64 * (IMAGE // 4) ** 2, 1024),
            nn.ReLU(),
            nn.Linear(1024, CLASSES),
        )

    def forward(self, images: Tensor) -> Tensor:
        return self.classifier(self.features(images))


def make_batch(size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """`size` images of stripes, each with a random direction, phase and noise, and their classes."""
    labels = torch.randint(CLASSES, (size,), device=device)
    angle = (labels * (math.pi / CLASSES)).view(-1, 1, 1)
    phase = torch.rand(size, 1, 1, device=device) * (2 * math.pi)
    axis = torch.linspace(-1, 1, IMAGE, device=device)
    x, y = axis.view(1, 1, -1), axis.view(1, -1, 1)
    stripes = torch.sin(12 * (x * torch.cos(angle) + y * torch.sin(angle)) + phase)
    noise = torch.randn(size, 3, IMAGE, IMAGE, device=device)
    return stripes.unsqueeze(1) + 0.5 * noise, labels


@torch.no_grad()
def evaluate(model: nn.Module, batch_size: int, device: torch.device) -> float:
    """The share of right answers on a fresh batch, four times as large as a training batch."""
    model.eval()
    images, labels = make_batch(4 * batch_size, device)
    accuracy = (model(images).argmax(1) == labels).float().mean().item()
    model.train()
    return accuracy


def write_report(report: TextIO, step: int) -> None:
    """One line of JSON with PyTorch's own memory figures, in bytes."""
    figures = {
        "step": step,
        "memory_allocated": torch.cuda.memory_allocated(),
        "memory_reserved": torch.cuda.memory_reserved(),
        "max_memory_allocated": torch.cuda.max_memory_allocated(),
    }
    print(json.dumps(figures), file=report, flush=True)


def train_step(model: nn.Module, criterion: nn.Module, optimizer: torch.optim.Optimizer, batch_size: int) -> float:
    """One step on a fresh batch; the loss as a plain number, so that nothing of the step stays alive."""
    images, labels = make_batch(batch_size, next(model.parameters()).device)
    optimizer.zero_grad()
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(options: argparse.Namespace, report: TextIO | None) -> None:
    torch.manual_seed(options.seed)
    device = torch.device(options.device)
    model = StripeNet().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    criterion = nn.CrossEntropyLoss()
    watched_images, watched_labels = make_batch(8, device)
    watched_losses: list[Tensor | float] = []
    accuracy = 0.0

    for step in range(1, options.steps + 1):
        loss = train_step(model, criterion, optimizer, options.batch_size)

        if options.leak:
            watched_losses.append(criterion(model(watched_images), watched_labels))  # LEAK: keeps the graph
        else:
            with torch.no_grad():
                watched_losses.append(criterion(model(watched_images), watched_labels).item())

        if step % EVALUATE_EVERY == 0:
            accuracy = evaluate(model, options.batch_size, device)
        if step <= 3 or step % 10 == 0:
            print(f"step {step:5d}   loss {loss:7.4f}   accuracy {accuracy:4.0%}", flush=True)
        if report is not None:
            write_report(report, step)
        time.sleep(options.pause)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train a small image classifier on synthetic data.")
    default_device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=default_device, help="cuda, cuda:1, cpu (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="default: %(default)s")
    parser.add_argument("--batch-size", type=int, default=32, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--leak", action="store_true", help="switch on the classic leak: losses kept with their graphs")
    parser.add_argument("--report", metavar="FILE", help="write memory figures as JSON lines, one per step")
    parser.add_argument("--pause", type=float, default=0.0, metavar="S", help="seconds to sleep after each step")
    options = parser.parse_args()
    try:
        if options.report is None:
            train(options, None)
        else:
            with open(options.report, "w", encoding="utf-8") as report:
                train(options, report)
    except KeyboardInterrupt:
        print("stopped", flush=True)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
