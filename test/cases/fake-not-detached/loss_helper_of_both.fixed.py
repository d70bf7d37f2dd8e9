import argparse

import torch
import torch.nn as nn


def d_loss_fn(disc, real, fake):
    real_score = disc(real)
    fake_score = disc(fake)
    return nn.functional.softplus(-real_score).mean() + nn.functional.softplus(fake_score).mean()


def train(gen, disc, opt_g, opt_d, steps, batch, device):
    for i in range(steps):
        imgs = torch.randn(batch, 64, device=device)
        noise = torch.randn(batch, 8, device=device)

        opt_d.zero_grad()
        generated = gen(noise)
        loss_d = d_loss_fn(disc, imgs, generated.detach())
        loss_d.backward()
        opt_d.step()

        opt_g.zero_grad()
        loss_g = nn.functional.softplus(-disc(generated)).mean()
        loss_g.backward()
        opt_g.step()
    return loss_d.item(), loss_g.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gen = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64)).to(device)
    disc = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)).to(device)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4)
    opt_d = torch.optim.Adam(disc.parameters(), lr=1e-4)
    print(train(gen, disc, opt_g, opt_d, args.steps, args.batch, device))


if __name__ == "__main__":
    main()
