from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class SupportSet:
    def __init__(self, size, dim, device):
        self.bank = F.normalize(torch.randn(size, dim, device=device), dim=1)

    def push(self, feats):
        feats = feats.detach()
        self.bank = torch.cat([feats, self.bank])[: len(self.bank)]

    def nearest(self, feats):
        return self.bank[(feats @ self.bank.T).argmax(1)]


class DinoHead(nn.Module):
    def __init__(self, d=32, out=48):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d, 64), nn.GELU(), nn.Linear(64, out))
        self.register_buffer("center", torch.zeros(1, out))

    def forward(self, x):
        return self.mlp(x)

    @torch.no_grad()
    def update_center(self, output, momentum=0.9):
        self.center = self.center * momentum + output.mean(dim=0, keepdim=True) * (1 - momentum)


def main(steps=40):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Linear(50, 96), nn.ReLU(), nn.Linear(96, 32)).to(device)
    head = DinoHead().to(device)
    optimizer = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-3)
    support, recent = SupportSet(128, 32, device), deque(maxlen=10)
    for step in range(steps):
        x = torch.randn(24, 50, device=device)
        z = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
        z2 = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
        neighbours = support.nearest(z)
        logits = neighbours @ z2.T / 0.1
        out = head(z)
        with torch.no_grad():
            target = ((head(z2) - head.center) / 0.04).softmax(-1)
        loss = F.cross_entropy(logits, torch.arange(24, device=device)) - (target * out.log_softmax(-1)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        head.update_center(out)
        support.push(z)
        recent.append(loss.item())
    print(f"loss {sum(recent) / len(recent):.4f} centre {head.center.abs().mean().item():.4f}")


if __name__ == "__main__":
    main()
