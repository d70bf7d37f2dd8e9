import argparse

import torch
import torch.nn as nn


def make_nets(nz, device):
    netG = nn.Sequential(
        nn.Linear(nz, 128), nn.BatchNorm1d(128), nn.ReLU(True), nn.Linear(128, 256), nn.BatchNorm1d(256), nn.ReLU(True),
        nn.Linear(256, 3 * 12 * 12), nn.Tanh(), nn.Unflatten(1, (3, 12, 12)),
    )
    netD = nn.Sequential(nn.Flatten(), nn.Linear(3 * 12 * 12, 96), nn.LeakyReLU(0.2, True), nn.Linear(96, 1))
    return netG.to(device), netD.to(device)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nz", type=int, default=32)
    parser.add_argument("--iters", type=int, default=40)
    parser.add_argument("--sample-every", type=int, default=4)
    opt = parser.parse_args()
    torch.manual_seed(999)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    netG, netD = make_nets(opt.nz, device)
    fixed_noise = torch.randn(64, opt.nz, device=device)
    optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    img_list, G_losses, D_losses = [], [], []
    for iters in range(opt.iters):
        real = torch.rand(32, 3, 12, 12, device=device)
        fake = netG(torch.randn(32, opt.nz, device=device))
        netD.zero_grad()
        out_real, out_fake = netD(real), netD(fake.detach())
        errD = criterion(out_real, torch.ones_like(out_real)) + criterion(out_fake, torch.zeros_like(out_fake))
        errD.backward()
        optimizerD.step()

        netG.zero_grad()
        judged = netD(fake)
        errG = criterion(judged, torch.ones_like(judged))
        errG.backward()
        optimizerG.step()
        G_losses.append(errG.item())
        D_losses.append(errD.item())
        if iters % opt.sample_every == 0 or iters == opt.iters - 1:
            img_list.append(netG(fixed_noise).detach().cpu())
    print("frames", len(img_list), "last mean %.4f" % img_list[-1].mean().item())
    print("G", G_losses[-1], "D", D_losses[-1])


if __name__ == "__main__":
    main()
