import random

import torch
import torch.nn as nn
from torch.nn.functional import normalize


class EmbeddingNet(nn.Module):
    def __init__(self, in_dim=64, out_dim=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(in_dim, 192), nn.PReLU(), nn.Linear(192, 96), nn.PReLU())
        self.proj = nn.Linear(96, out_dim)

    def forward(self, x):
        return normalize(self.proj(self.trunk(x)), dim=-1)


def sample_triplets(n, device):
    base = torch.randn(n, 64, device=device)
    return base, base + 0.2 * torch.randn_like(base), torch.randn(n, 64, device=device)


def main():
    torch.manual_seed(0)
    random.seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = EmbeddingNet().to(device)
    optim = torch.optim.Adam(net.parameters(), lr=3e-4)
    margin_loss = nn.TripletMarginLoss(margin=0.3)
    curve, skipped = [], 0
    step = 0
    while step < 60:
        step += 1
        anchor, positive, negative = sample_triplets(24, device)
        a, p, n = net(anchor), net(positive), net(negative)
        gap = (a - n).pow(2).sum(-1).mean() - (a - p).pow(2).sum(-1).mean()
        if step % 2 == 0:
            curve.append((step, gap.item()))
        loss = margin_loss(a, p, n)
        if loss.item() == 0.0:
            skipped += 1
            continue
        optim.zero_grad()
        loss.backward()
        optim.step()
    for at, value in curve[::6]:
        print(f"{at:4d} gap {value:.4f}")
    print("skipped", skipped)


if __name__ == "__main__":
    main()
