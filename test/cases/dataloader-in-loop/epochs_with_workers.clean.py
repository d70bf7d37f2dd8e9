import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def make_data(size, bins=64, classes=4):
    labels = torch.arange(size) % classes
    peaks = torch.exp(-((torch.arange(bins)[None] - 10 - 12 * labels[:, None]) ** 2) / 20.0)
    return TensorDataset(peaks + 0.3 * torch.randn(size, bins), labels)


def hardest(model, data, keep, device):
    """The rows with the largest loss, for the next round."""
    with torch.no_grad():
        x, y = data.tensors
        losses = nn.functional.cross_entropy(model(x.to(device)), y.to(device), reduction="none")
    return losses.topk(keep).indices.tolist()


def fit_round(data, rows, lr, device, model):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loader = DataLoader(Subset(data, rows), batch_size=16, shuffle=True)
    for _ in range(2):
        for spectra, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(model(spectra.to(device)), labels.to(device)).backward()
            optimizer.step()


def main(args):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = make_data(args.size)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
    rows = list(range(args.size))
    for round_ in range(args.rounds):
        fit_round(data, rows, args.lr, device, model)
        rows = hardest(model, data, args.size // 2, device)
        # another subset each time, so another loader each time
        check = DataLoader(Subset(data, rows), batch_size=32)
        with torch.no_grad():
            wrong = sum((model(x.to(device)).argmax(1).cpu() != y).sum().item() for x, y in check)
        print(f"round {round_}: {wrong} of {len(rows)} wrong")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-2)
    main(parser.parse_args())
