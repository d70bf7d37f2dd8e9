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


class SampleWriter:
    """Keeps bytes for an animation, and one fixed set of latents of which a half is shown."""

    def __init__(self, device, total=32, shown=16):
        self.latents = torch.randn(total, LATENT, device=device)
        self.shown = self.latents[:shown]
        self.held_out = self.latents[shown:]
        self.frames = []
        self.brightness = []

    @torch.no_grad()
    def write(self, generator):
        samples = generator(self.shown)
        self.frames.append((samples[:4] * 127.5 + 127.5).to(torch.uint8).cpu())
        self.brightness.append(samples[:, 0].mean().item())


def train_step(generator, critic, opt_g, opt_d, real):
    fake = generator(torch.randn(len(real), LATENT, device=real.device))
    half = len(real) // 2
    d_loss = F.softplus(critic(fake[:half].detach())).mean() + F.softplus(-critic(real[:half])).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = F.softplus(-critic(fake)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    return d_loss.item(), g_loss.item()


def main(steps=30):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator, critic = Generator().to(device), Critic().to(device)
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    data = torch.rand(steps * 32, 1, 16, 16, device=device) * 2 - 1
    batches = [data[i : i + 32] for i in range(0, len(data), 32)]
    writer = SampleWriter(device)
    for number, real in enumerate(batches):
        losses = train_step(generator, critic, opt_g, opt_d, real)
        if number % 5 == 0:
            writer.write(generator)
    with torch.no_grad():
        spread = generator(writer.held_out).std().item()
    print("losses", [round(v, 4) for v in losses], len(writer.frames), "frames, spread", round(spread, 4))


if __name__ == "__main__":
    main()
