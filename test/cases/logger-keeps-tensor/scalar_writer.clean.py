import json
import tempfile
from pathlib import Path

import torch
from torch import nn

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:

    class SummaryWriter:
        def __init__(self, log_dir):
            self.handle = open(Path(log_dir) / "events.jsonl", "w")

        def add_scalar(self, tag, value, step):
            self.handle.write(json.dumps({"tag": tag, "step": step, "value": float(value)}) + "\n")

        def close(self):
            self.handle.close()


class Recorder:
    """Takes tensors or numbers and stores numbers."""

    def __init__(self):
        self.rows = []

    def log(self, step, **values):
        self.rows.append({"step": step, **{k: v.item() if torch.is_tensor(v) else v for k, v in values.items()}})

    def mean(self, key):
        return sum(row[key] for row in self.rows) / len(self.rows)


class ValueNet(nn.Module):
    def __init__(self, obs=8, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, obs):
        return self.body(obs).squeeze(1)


def fit_value(net, writer, recorder, iterations, device):
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    for it in range(iterations):
        obs = torch.randn(64, 8, device=device)
        loss = nn.functional.huber_loss(net(obs), obs.square().sum(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        writer.add_scalar("loss/value", loss, it)
        recorder.log(it, loss=loss, lr=opt.param_groups[0]["lr"])


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder)
        fit_value(ValueNet().to(device), writer, recorder, 120, device)
        writer.close()
    print("mean loss", round(recorder.mean("loss"), 4), "rows", len(recorder.rows))


if __name__ == "__main__":
    main()
