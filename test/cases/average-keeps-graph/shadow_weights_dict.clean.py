from copy import deepcopy

import torch
import torch.nn as nn


class BYOL(nn.Module):
    def __init__(self, dim=48, proj=16, tau=0.99):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(dim, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, proj))
        self.predictor = nn.Linear(proj, proj)
        self.target = deepcopy(self.online)
        self.target.requires_grad_(False)
        self.tau = tau

    def forward(self, v1, v2):
        p1, p2 = self.predictor(self.online(v1)), self.predictor(self.online(v2))
        with torch.no_grad():
            t1, t2 = self.target(v1), self.target(v2)
        return (self._distance(p1, t2) + self._distance(p2, t1)).mean()

    @staticmethod
    def _distance(p, t):
        return 2 - 2 * nn.functional.cosine_similarity(p, t, dim=-1)

    @torch.no_grad()
    def update_target(self):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(o, 1 - self.tau)


class SWA:
    def __init__(self, model):
        self.n = 0
        self.mean = [p.data.clone() for p in model.parameters()]

    def collect(self, model):
        self.n += 1
        for i, p in enumerate(model.parameters()):
            self.mean[i] = self.mean[i] + (p.data - self.mean[i]) / self.n


def main(steps=40):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = BYOL().to(device)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    swa = SWA(model.online)
    smooth = None
    for step in range(steps):
        x = torch.randn(32, 48, device=device)
        loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.update_target()
        value = loss.item()
        smooth = value if smooth is None else 0.9 * smooth + 0.1 * value
        if step >= 20 and step % 5 == 0:
            swa.collect(model.online)
    print(f"loss {smooth:.4f} averaged {swa.n} first weight {swa.mean[0][0, 0].item():.4f}")


if __name__ == "__main__":
    main()
