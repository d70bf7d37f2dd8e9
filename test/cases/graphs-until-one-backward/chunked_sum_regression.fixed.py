import torch
from torch import nn


class GraphRegressor(nn.Module):
    """Message passing over dense molecules, one scalar per molecule."""

    def __init__(self, feats=10, hidden=48, rounds=3):
        super().__init__()
        self.embed = nn.Linear(feats, hidden)
        self.message = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(rounds)])
        self.readout = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, nodes, adjacency):
        h = self.embed(nodes)
        for layer in self.message:
            h = h + torch.nn.functional.silu(adjacency @ layer(h))
        return self.readout(h.sum(1)).squeeze(-1)


def molecules(n, size, device):
    adjacency = (torch.rand(n, size, size, device=device) < 0.2).float()
    adjacency = (adjacency + adjacency.transpose(1, 2)).clamp(max=1.0) / 4
    nodes = torch.randn(n, size, 10, device=device)
    return nodes, adjacency, adjacency.sum((1, 2))


class Trainer:
    def __init__(self, model, lr=1e-3, chunks=8):
        self.model, self.chunks = model, chunks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.L1Loss(reduction="sum")

    def train_batch(self, nodes, adjacency, target):
        self.optimizer.zero_grad()
        objective = 0.0
        for n, a, t in zip(nodes.chunk(self.chunks), adjacency.chunk(self.chunks), target.chunk(self.chunks)):
            part = self.criterion(self.model(n, a), t)
            (part / len(target)).backward()
            objective = objective + part.item() / len(target)
        self.optimizer.step()
        return objective


def main(iterations=8):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = Trainer(GraphRegressor().to(device))
    for it in range(iterations):
        nodes, adjacency, target = molecules(64, 16, device)
        value = trainer.train_batch(nodes, adjacency, target)
        print(f"iteration {it} mae {value:.3f}")


if __name__ == "__main__":
    main()
