import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    """Synthetic spectra, computed in the worker."""

    def __init__(self, size, bins=64, classes=4):
        self.size, self.bins, self.classes = size, bins, classes

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        label = index % self.classes
        peak = torch.exp(-((torch.arange(self.bins) - 10 - 12 * label) ** 2) / 20.0)
        return peak + 0.3 * torch.randn(self.bins, generator=generator), label


def train_epoch(model, loader, optimizer, device):
    total, seen = 0.0, 0
    for spectra, labels in loader:
        spectra, labels = spectra.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(spectra), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total, seen = total + loss.item() * len(labels), seen + len(labels)
    return total / seen


def main(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set = Spectra(args.size)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loader = DataLoader(  # expect: dataloader-in-loop
            train_set,
            batch_size=args.batch_size,
            shuffle=True,
            num_workers=args.workers,
            persistent_workers=True,
            pin_memory=device.type == "cuda",
        )
        print(f"epoch {epoch}: {train_epoch(model, loader, optimizer, device):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
