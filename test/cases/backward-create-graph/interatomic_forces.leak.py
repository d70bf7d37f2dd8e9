from typing import NamedTuple

import torch
import torch.nn as nn


class Batch(NamedTuple):
    positions: torch.Tensor
    energy: torch.Tensor
    forces: torch.Tensor


class PairPotential(nn.Module):
    def __init__(self, n_rbf=16, hidden=64, cutoff=4.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, cutoff, n_rbf))
        self.mlp = nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, positions):
        i, j = torch.triu_indices(positions.size(1), positions.size(1), offset=1, device=positions.device)
        r = (positions[:, i] - positions[:, j]).square().sum(-1).add(1e-9).sqrt()
        rbf = torch.exp(-((r.unsqueeze(-1) - self.centers) ** 2))
        return self.mlp(rbf).sum((1, 2))


def make_batch(n, atoms, device):
    positions = torch.randn(n, atoms, 3, device=device)
    centred = positions - positions.mean(1, keepdim=True)
    return Batch(positions, 0.5 * centred.square().sum((1, 2)), -centred)


class ForceTrainer:
    def __init__(self, model, lr=1e-3, force_weight=10.0):
        self.model, self.force_weight = model, force_weight
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def predict(self, positions):
        positions = positions.detach().requires_grad_()
        energy = self.model(positions)
        torch.autograd.backward(energy.sum(), inputs=[positions], create_graph=True)  # expect: backward-create-graph
        return energy, -positions.grad

    def step(self, batch):
        energy, forces = self.predict(batch.positions)
        loss_e = (energy - batch.energy).square().mean()
        loss_f = (forces - batch.forces).square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        (loss_e + self.force_weight * loss_f).backward()
        self.optimizer.step()
        return loss_e.item(), loss_f.item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = ForceTrainer(PairPotential().to(device))
    for epoch in range(18):
        batch = make_batch(16, 7, device)
        e, f = trainer.step(batch)
        if epoch % 6 == 0:
            print(f"epoch {epoch}: energy {e:.4f}, forces {f:.4f}")
