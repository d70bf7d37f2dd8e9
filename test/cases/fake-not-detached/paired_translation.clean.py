import itertools
import random

import torch
import torch.nn as nn


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, batch):
        picked = []
        for image in batch.detach().split(1):
            if len(self.images) < self.size:
                self.images.append(image.clone())
                picked.append(image)
            elif random.random() > 0.5:
                k = random.randrange(self.size)
                picked.append(self.images[k])
                self.images[k] = image.clone()
            else:
                picked.append(image)
        return torch.cat(picked)


def translator():
    return nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 3, padding=1), nn.Tanh())


def patch_critic():
    return nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 4, 2, 1))


def lsgan(pred, real):
    return (pred - float(real)).pow(2).mean()


class CycleGAN:
    def __init__(self, device):
        self.g_ab, self.g_ba, self.d_b = (m.to(device) for m in (translator(), translator(), patch_critic()))
        self.opt_g = torch.optim.Adam(itertools.chain(self.g_ab.parameters(), self.g_ba.parameters()), lr=2e-4)
        self.opt_d = torch.optim.Adam(self.d_b.parameters(), lr=2e-4)
        self.pool = ImagePool(8)

    def step(self, a, b):
        fake = self.g_ab(a)
        self.d_b.requires_grad_(False)
        loss_g = lsgan(self.d_b(fake), True) + 10 * (self.g_ba(fake) - a).abs().mean()
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()

        self.d_b.requires_grad_(True)
        fake = self.pool.query(fake)
        loss_d = 0.5 * (lsgan(self.d_b(b), True) + lsgan(self.d_b(fake), False))
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()
        return loss_g.item(), loss_d.item()


if __name__ == "__main__":
    random.seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gan = CycleGAN(device)
    for i in range(12):
        g, d = gan.step(torch.rand(2, 3, 24, 24, device=device), torch.rand(2, 3, 24, 24, device=device))
        if i % 4 == 0:
            print(i, round(g, 4), round(d, 4))
