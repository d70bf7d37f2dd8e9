import random

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR


class ResidualBlock(nn.Module):
    def __init__(self, width, p=0.1):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Dropout(p), nn.Linear(2 * width, width))

    def forward(self, h):
        return h + self.inner(h)


class Tabular(nn.Module):
    def __init__(self, features, width=192, blocks=3):
        super().__init__()
        self.first = nn.Linear(features, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(blocks)])
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        return self.last(self.blocks(self.first(x))).squeeze(-1)


def folds(n, k, seed=0):
    order = list(range(n))
    random.Random(seed).shuffle(order)
    for i in range(k):
        held = set(order[i::k])
        yield [j for j in order if j not in held], sorted(held)


def cross_validate(x, y, k, epochs, device):
    rmse = []
    for fold, (train_idx, val_idx) in enumerate(folds(len(x), k)):
        torch.manual_seed(fold)
        net = Tabular(x.size(1)).to(device)
        opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
        sched = OneCycleLR(opt, max_lr=3e-3, total_steps=epochs)
        net.train()
        for _ in range(epochs):
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(net(x[train_idx]), y[train_idx])
            loss.backward()
            opt.step()
            sched.step()
        net.eval()
        with torch.no_grad():
            err = nn.functional.mse_loss(net(x[val_idx]), y[val_idx]).sqrt()
        rmse.append(err.item())
        print(f"fold {fold} rmse {rmse[-1]:.4f}")
        del net, opt, sched, loss
    return sum(rmse) / len(rmse)


if __name__ == "__main__":
    torch.manual_seed(100)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(60, 10, device=device)
    print("mean rmse", round(cross_validate(x, x.sum(dim=1).sin(), 5, 6, device), 4))
