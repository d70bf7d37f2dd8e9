import torch
import torch.nn as nn
import torch.nn.functional as F

LATENT = 16


class Generator(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(LATENT, 64), nn.ReLU(), nn.Linear(64, 16 * 16), nn.Tanh(), nn.Unflatten(1, (1, 16, 16)))


class Critic(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8 * 8 * 8, 1))


class GANLearner:
    def __init__(self, device, lr=2e-4, sample_every=2):
        self.device = device
        self.G, self.D = Generator().to(device), Critic().to(device)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))
        self.sample_every = sample_every
        self.gallery = []
        self.steps = 0

    def step(self, real):
        fake = self.G(torch.randn(len(real), LATENT, device=self.device))
        d_loss = F.softplus(self.D(fake.detach())).mean() + F.softplus(-self.D(real)).mean()
        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        g_loss = F.softplus(-self.D(fake)).mean()
        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()

        if self.steps % self.sample_every == 0:
            self.gallery.append(fake.detach()[:4])  # expect: view-keeps-storage
        self.steps += 1
        return d_loss.item(), g_loss.item()

    def fit(self, loader):
        for real in loader:
            d_loss, g_loss = self.step(real.to(self.device))
        return d_loss, g_loss


def grid(frames):
    rows = [torch.cat(list(frame[:, 0]), dim=1) for frame in frames]
    return torch.cat(rows, dim=0).add(1).div(2)


if __name__ == "__main__":
    torch.manual_seed(0)
    learner = GANLearner(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    final = learner.fit(torch.rand(64, 1, 16, 16) * 2 - 1 for _ in range(40))
    picture = grid(learner.gallery)
    print("losses", [round(v, 4) for v in final], "gallery", tuple(picture.shape), picture.mean().item())
