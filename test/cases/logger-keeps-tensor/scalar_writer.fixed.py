import csv
import tempfile
from collections import defaultdict
from pathlib import Path

import torch
from torch import nn


class CSVWriter:
    """TensorBoard's interface, for machines without TensorBoard: one CSV file per tag, written by close()."""

    def __init__(self, logdir):
        self.logdir = Path(logdir)
        self.scalars = defaultdict(list)

    def add_scalar(self, tag, value, global_step):
        self.scalars[tag].append((global_step, value))

    def close(self):
        for tag, rows in self.scalars.items():
            with open(self.logdir / (tag.replace("/", "_") + ".csv"), "w", newline="") as handle:
                csv.writer(handle).writerows((step, float(value)) for step, value in rows)


class ValueNet(nn.Module):
    def __init__(self, obs=8, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.value, self.aux = nn.Linear(hidden, 1), nn.Linear(hidden, obs)

    def forward(self, obs):
        h = self.body(obs)
        return self.value(h).squeeze(1), self.aux(h)


def fit_value(net, writer, iterations, device):
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    for it in range(iterations):
        obs = torch.randn(64, 8, device=device)
        returns = obs.square().sum(1)
        value, predicted = net(obs)
        value_loss = nn.functional.huber_loss(value, returns)
        aux_loss = nn.functional.mse_loss(predicted, obs)
        opt.zero_grad()
        (value_loss + 0.1 * aux_loss).backward()
        opt.step()
        writer.add_scalar("loss/aux", aux_loss.item(), it)
        writer.add_scalar("loss/value", value_loss.item(), it)
    return value_loss.item()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        writer = CSVWriter(folder)
        last = fit_value(ValueNet().to(device), writer, 300, device)
        writer.close()
        print(sorted(path.name for path in Path(folder).iterdir()), f"last {last:.4f}")


if __name__ == "__main__":
    main()
