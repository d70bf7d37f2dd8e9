import argparse

import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU()
        )

    def forward(self, x):
        return self.net(x).mean((2, 3))


class LinearProbe(nn.Module):
    def __init__(self, backbone, dim, classes):
        super().__init__()
        self.backbone = backbone
        for param in self.backbone.parameters():
            param.requires_grad = False
        self.head = nn.Linear(dim, classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        features = self.backbone(x)
        return self.head(features)


def fit(model, optimizer, loader):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    probe = LinearProbe(Backbone(), 32, 4).to(device)
    optimizer = torch.optim.SGD(probe.head.parameters(), lr=0.1)
    loader = [
        (torch.randn(16, 3, 16, 16, device=device), torch.randint(0, 4, (16,), device=device)) for _ in range(5)
    ]
    for epoch in range(args.epochs):
        print(epoch, round(fit(probe, optimizer, loader), 4))


if __name__ == "__main__":
    main()
