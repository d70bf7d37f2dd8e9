import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class FeatureDataset(Dataset):
    """Frames of a frozen encoder, computed the first time they are asked for."""

    def __init__(self, clips, labels, encoder, device):
        self.clips, self.labels = clips, labels
        self.encoder, self.device = encoder, device
        self.cache = {}

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        if index not in self.cache:
            with torch.no_grad():
                frames = self.encoder(self.clips[index].to(self.device))
            self.cache[index] = frames.cpu()
        return self.cache[index].to(self.device), self.labels[index].to(self.device)


def frozen_encoder(width=64):
    encoder = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, width))
    return encoder.requires_grad_(False).eval()


class Pooling(nn.Module):
    def __init__(self, dim=64, classes=5):
        super().__init__()
        self.score, self.head = nn.Linear(dim, 1), nn.Linear(dim, classes)

    def forward(self, frames):
        weights = self.score(frames).softmax(1)
        return self.head((weights * frames).sum(1))


def train_batch(model, optimizer, frames, labels):
    loss = nn.functional.cross_entropy(model(frames), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(args, device):
    clips = torch.randn(args.clips, 50, 32)
    labels = torch.randint(0, 5, (args.clips,))
    dataset = FeatureDataset(clips, labels, frozen_encoder().to(device), device)
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True)
    model = Pooling().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        total = sum(train_batch(model, optimizer, frames, y) for frames, y in loader)
        print(f"epoch {epoch}: {total / len(loader):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clips", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=1)
    train(parser.parse_args(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
