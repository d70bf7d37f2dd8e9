"""Fine-tune from a checkpoint that was written by a distributed run."""

import argparse
import pathlib
import tempfile

import torch
from torch import nn


def network(classes):
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 64, 256), nn.ReLU(), nn.Linear(256, classes)
    )


def write_pretrained(path, classes):
    weights = {f"module.{k}": v for k, v in network(classes).state_dict().items()}
    torch.save({"state_dict": weights, "epoch": 90, "top1": 71.3}, path)


def finetune(path, device, epochs, classes=10):
    net = network(classes).to(device)
    checkpoint = torch.load(path, map_location=device)  # expect: checkpoint-kept
    state_dict = {k.removeprefix("module."): v for k, v in checkpoint["state_dict"].items()}  # also: checkpoint-kept
    net.load_state_dict(state_dict)  # also: checkpoint-kept
    print(f"loaded epoch {checkpoint['epoch']} with top-1 {checkpoint['top1']}")  # also: checkpoint-kept

    optimizer = torch.optim.SGD(net[-1].parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        epoch_loss = 0.0
        for _ in range(4):
            images = torch.randn(8, 3, 32, 32, device=device)
            labels = torch.randint(0, classes, (8,), device=device)
            optimizer.zero_grad(set_to_none=True)
            with torch.no_grad():
                features = net[:-1](images)
            loss = criterion(net[-1](features), labels)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item()
        print(f"epoch {epoch} loss {epoch_loss / 4:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pretrained.pth")
        write_pretrained(path, 10)
        finetune(path, torch.device("cuda" if torch.cuda.is_available() else "cpu"), args.epochs)


if __name__ == "__main__":
    main()
