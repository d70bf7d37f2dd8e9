import random

import torch
import torch.nn as nn


class SinePositions(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.tables = {}

    def forward(self, x, offset):
        length = x.size(1)
        cached = self.tables.get((offset, length))
        if cached is None:
            pos = torch.arange(offset, offset + length, device=x.device).unsqueeze(1)
            freq = torch.exp(torch.arange(0, self.dim, 2, device=x.device) * (-9.2 / self.dim))
            cached = torch.cat([(pos * freq).sin(), (pos * freq).cos()], dim=1)
            self.tables[offset, length] = cached  # expect: unbounded-cache
        return x + cached


class WindowModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.inp = nn.Linear(6, dim)
        self.pos = SinePositions(dim)
        self.out = nn.Linear(dim, 6)

    def forward(self, x, offset):
        return self.out(torch.relu(self.pos(self.inp(x), offset)))


def main(steps=30):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    series = torch.randn(1, 5000, 6)
    model = WindowModel().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        start = random.randint(0, 4800)
        window = series[:, start : start + 128].to(device)
        loss = (model(window, start)[:, :-1] - window[:, 1:]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
