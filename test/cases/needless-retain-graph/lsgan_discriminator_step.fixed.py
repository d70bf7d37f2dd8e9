import torch
import torch.nn as nn


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.02)


class Generator(nn.Sequential):
    def __init__(self, nz=24, ngf=12):
        super().__init__(
            nn.ConvTranspose2d(nz, 2 * ngf, 4, 1, 0), nn.ReLU(),
            nn.ConvTranspose2d(2 * ngf, ngf, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(ngf, 3, 4, 2, 1), nn.Tanh(),
        )


class Discriminator(nn.Sequential):
    def __init__(self, ndf=48):
        super().__init__(
            nn.Conv2d(3, ndf, 3, 1, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ndf, ndf, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ndf, ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(16 * ndf, 1),
        )


def train_gan(real_batches, device, nz=24):
    netG, netD = Generator(nz).to(device).apply(weights_init), Discriminator().to(device).apply(weights_init)
    optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    mse = nn.MSELoss()
    for i, real in enumerate(real_batches):
        real = real.to(device)
        valid = torch.ones(len(real), 1, device=device)
        fake_label = torch.zeros_like(valid)
        gen = netG(torch.randn(len(real), nz, 1, 1, device=device))

        optD.zero_grad()
        d_loss = 0.5 * (mse(netD(real), valid) + mse(netD(gen.detach()), fake_label))
        d_loss.backward()
        optD.step()

        optG.zero_grad()
        g_loss = mse(netD(gen), valid)
        g_loss.backward()
        optG.step()
        if i % 5 == 0:
            print(f"[{i}] D {d_loss.item():.3f} G {g_loss.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train_gan([torch.rand(16, 3, 16, 16) * 2 - 1 for _ in range(15)],
              torch.device("cuda" if torch.cuda.is_available() else "cpu"))
