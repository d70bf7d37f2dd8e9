import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class CalibrationError(nn.Module):
    """Expected calibration error over everything that went through forward()."""

    def __init__(self, bins=10):
        super().__init__()
        self.bins = bins
        self.confidences, self.hits = [], []

    def forward(self, probs, labels):
        confidence, winner = probs.max(dim=1)
        self.confidences.append(confidence)  # also: metric-not-reset
        self.hits.append((winner == labels).float())  # also: metric-not-reset

    def result(self):
        confidence, hits = torch.cat(self.confidences), torch.cat(self.hits)
        where = (confidence * self.bins).long().clamp_max(self.bins - 1)
        error = 0.0
        for b in range(self.bins):
            mine = where == b
            if mine.any():
                error += mine.float().mean().item() * (confidence[mine].mean() - hits[mine].mean()).abs().item()
        return error

    def clear(self):
        self.confidences, self.hits = [], []


class Classifier(nn.Module):
    def __init__(self, n_in=30, classes=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, classes))

    def forward(self, x):
        return self.net(x)


def draw(rows, classes=6):
    y = torch.randint(0, classes, (rows,))
    return torch.randn(rows, 30) + F.one_hot(y, 30) * 1.5, y


def run(args, device):
    model = Classifier().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    splits = {"valid": [draw(256) for _ in range(4)], "shifted": [draw(256) for _ in range(2)]}
    ece = {name: CalibrationError().to(device) for name in splits}  # also: metric-not-reset
    for round_ in range(args.rounds):
        model.train()
        for x, y in (draw(64) for _ in range(10)):
            optimizer.zero_grad()
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        line = []
        for name, batches in splits.items():
            with torch.inference_mode():
                for x, y in batches:
                    ece[name](model(x.to(device)).softmax(1), y.to(device))  # expect: metric-not-reset
            line.append(f"{name} {ece[name].result():.4f}")  # also: metric-not-reset
        if round_ % 4 == 3:
            print(round_, *line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.05)
    torch.manual_seed(0)
    run(parser.parse_args(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
