import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class BYOL(nn.Module):
    def __init__(self, dim=64, proj=32):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, proj))
        self.predictor = nn.Sequential(nn.Linear(proj, 64), nn.ReLU(), nn.Linear(64, proj))
        self.target = copy.deepcopy(self.online)

    def forward(self, v1, v2):
        p1 = self.predictor(self.online(v1))
        p2 = self.predictor(self.online(v2))
        with torch.no_grad():
            t1, t2 = self.target(v1), self.target(v2)
        return 2 - F.cosine_similarity(p1, t2).mean() - F.cosine_similarity(p2, t1).mean()

    @torch.no_grad()
    def move_target(self, m=0.99):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.mul_(m).add_(o, alpha=1 - m)


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    byol = BYOL().to(device)
    optimizer = torch.optim.Adam([*byol.online.parameters(), *byol.predictor.parameters()], lr=1e-3)
    for step in range(steps):
        x = torch.randn(64, 64, device=device)
        loss = byol(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        byol.move_target()
        if step % 5 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
