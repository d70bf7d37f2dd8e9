import torch
import torch.nn as nn
from torch import autograd


class Critic(nn.Module):
    def __init__(self, side=16, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(side * side, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class Generator(nn.Module):
    def __init__(self, z_dim=24, side=16):
        super().__init__()
        self.z_dim, self.side = z_dim, side
        self.net = nn.Sequential(nn.Linear(z_dim, 128), nn.ReLU(), nn.Linear(128, side * side), nn.Tanh())

    def forward(self, z):
        return self.net(z).view(-1, 1, self.side, self.side)


def penalty(critic, real, fake):
    t = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    mix = torch.lerp(real, fake, t).requires_grad_(True)
    (g,) = autograd.grad(critic(mix).sum(), mix, create_graph=True)
    return (g.flatten(1).norm(dim=1) - 1).square().mean()


def critic_update(critic, generator, opt, real):
    with torch.no_grad():
        z = torch.randn(real.size(0), generator.z_dim, device=real.device)
        fake = generator(z)
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def generator_update(critic, generator, opt, batch, device):
    fake = generator(torch.randn(batch, generator.z_dim, device=device))
    loss = -critic(fake).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def run(rounds=8, n_critic=3, batch=32):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    critic, generator = Critic().to(device), Generator().to(device)
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
    for r in range(rounds):
        for _ in range(n_critic):
            c = critic_update(critic, generator, opt_c, torch.rand(batch, 1, 16, 16, device=device))
        g = generator_update(critic, generator, opt_g, batch, device)
        if r % 4 == 0:
            print(f"round {r}: critic {c:.3f} generator {g:.3f}")


if __name__ == "__main__":
    run()
