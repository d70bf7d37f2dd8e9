import torch
import torch.nn as nn
import torch.nn.functional as F


class SimCLR(nn.Module):
    def __init__(self, d=64, proj=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 128), nn.ReLU(), nn.Linear(128, 64))
        self.projector = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, proj))

    def forward(self, x):
        return F.normalize(self.projector(self.encoder(x)), dim=1)


def nt_xent(z, views, temperature=0.5):
    n = len(z) // views
    sim = z @ z.T / temperature
    sim.fill_diagonal_(float("-inf"))
    losses = []
    for shift in range(1, views):
        target = (torch.arange(len(z), device=z.device) + shift * n) % len(z)
        losses.append(F.cross_entropy(sim, target))
    return torch.stack(losses).mean()


def step(model, optimizer, x, views=3):
    embeddings = []
    for _ in range(views):
        noisy = x + 0.2 * torch.randn_like(x)
        embeddings.append(model(noisy))
    loss = nt_xent(torch.cat(embeddings), views)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def ranking_step(model, optimizer, query, candidates):
    scores = []
    q = model(query)
    for candidate in candidates:
        scores.append((q * model(candidate)).sum(1))
    loss = F.cross_entropy(torch.stack(scores, dim=1), torch.zeros(len(query), dtype=torch.long, device=query.device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=20):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SimCLR().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for it in range(steps):
        x = torch.randn(16, 64, device=device)
        contrastive = step(model, optimizer, x)
        ranked = ranking_step(model, optimizer, x, [x + 0.1, x.roll(1, 0), x.roll(2, 0)])
        if it % 5 == 0:
            print(f"{it} contrastive {contrastive:.4f} ranking {ranked:.4f}")


if __name__ == "__main__":
    main()
