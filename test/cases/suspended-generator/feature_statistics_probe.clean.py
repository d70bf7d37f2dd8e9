import itertools

import torch
import torch.nn as nn


def feature_batches(encoder, batches, device, size=128, dim=64):
    for _ in range(batches):
        pixels = torch.randn(size, dim, device=device)
        with torch.no_grad():
            features = encoder(pixels)
        yield features.mean(0)


def average_feature(encoder, device, dim=64):
    total = torch.zeros(dim, device=device)
    for count, mean in enumerate(feature_batches(encoder, 4, device), start=1):
        total += (mean - total) / count
    return total


def first_feature(encoder, device):
    return next(feature_batches(encoder, 4, device))


def spread(encoder, device):
    means = torch.stack(list(itertools.islice(feature_batches(encoder, 10, device), 3)))
    return means.std(0).mean().item()


def train(encoder, device, offset, steps=20):
    head = nn.Linear(64, 3).to(device)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
    for step in range(steps):
        x = torch.randn(32, 64, device=device)
        with torch.no_grad():
            features = encoder(x) - offset
        loss = nn.functional.cross_entropy(head(features), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, round(loss.item(), 4))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).to(device)
    encoder.requires_grad_(False).eval()
    gap = (average_feature(encoder, device) - first_feature(encoder, device)).norm().item()
    print(f"gap {gap:.4f} spread {spread(encoder, device):.4f}")
    train(encoder, device, average_feature(encoder, device))


if __name__ == "__main__":
    main()
