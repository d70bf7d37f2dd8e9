import random

import torch
import torch.nn as nn


class ResidualBlock(nn.Module):
    def __init__(self, width, p=0.1):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Dropout(p), nn.Linear(2 * width, width))

    def forward(self, h):
        return h + self.inner(h)


class Tabular(nn.Module):
    def __init__(self, features, width=96, blocks=2):
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


def train(net, x, y, epochs):
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net.train()
    for _ in range(epochs):
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
    net.zero_grad(set_to_none=True)
    return net.eval()


def bagged(x, y, k, epochs, device):
    members = []
    for fold, (train_idx, _) in enumerate(folds(len(x), k)):
        torch.manual_seed(fold)
        net = Tabular(x.size(1)).to(device)
        members.append(train(net, x[train_idx], y[train_idx], epochs))
    return members


@torch.no_grad()
def predict(members, x):
    return torch.stack([net(x) for net in members]).mean(dim=0)


if __name__ == "__main__":
    torch.manual_seed(100)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(60, 10, device=device)
    members = bagged(x, x.sum(dim=1).sin(), 5, 6, device)
    print("members", len(members))
    print("mean prediction", round(predict(members, x).mean().item(), 4))
