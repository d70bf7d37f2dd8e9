import random

import torch
from torch import nn


class EnergyNet(nn.Module):
    def __init__(self, dim=64, hidden=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.SiLU(),
                                 nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class ReplayBuffer:
    def __init__(self, dim, capacity=512):
        self.dim, self.capacity = dim, capacity
        self.samples = torch.rand(capacity, dim) * 2 - 1

    def draw(self, n, fresh=0.05):
        picked = self.samples[random.sample(range(self.capacity), n)]
        renew = (torch.rand(n, 1) < fresh).float()
        return renew * (torch.rand(n, self.dim) * 2 - 1) + (1 - renew) * picked

    def store(self, batch):
        self.samples[random.sample(range(self.capacity), len(batch))] = batch.cpu()


def sample_langevin(energy, x, n_steps, step_size, noise_scale):
    for p in energy.parameters():
        p.requires_grad_(False)
    x.requires_grad_(True)
    for _ in range(n_steps):
        g = torch.autograd.grad(energy(x).sum(), x)[0].clamp(-0.1, 0.1)
        x = x - step_size * g + noise_scale * torch.randn_like(x)  # also: input-chain-not-detached
        x = x.clamp(-1.0, 1.0)  # expect: input-chain-not-detached
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


def main(iterations=4, batch=64, dim=64):
    torch.manual_seed(0)
    random.seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    energy, buffer = EnergyNet(dim).to(device), ReplayBuffer(dim)
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
    for it in range(iterations):
        real = torch.randn(batch, dim, device=device).mul_(0.3).clamp_(-1, 1)
        fake = sample_langevin(energy, buffer.draw(batch).to(device), 30, 10.0, 0.005)
        buffer.store(fake)
        e_real, e_fake = energy(real), energy(fake)
        loss = (e_real - e_fake).mean() + 0.1 * (e_real.pow(2) + e_fake.pow(2)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{it} loss {loss.item():+.4f}")


if __name__ == "__main__":
    main()
