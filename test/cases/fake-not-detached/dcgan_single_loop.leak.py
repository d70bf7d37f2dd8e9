import argparse

import torch
import torch.nn as nn


def build_generator(nz, ngf):
    return nn.Sequential(
        nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
        nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
        nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )


def build_discriminator(ndf):
    return nn.Sequential(
        nn.Conv2d(1, ndf, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(ndf * 2, 1, 4), nn.Flatten(0),
    )


def train_batch(netG, netD, optimizerG, optimizerD, real, nz, criterion):
    b = real.size(0)
    ones, zeros = torch.ones(b, device=real.device), torch.zeros(b, device=real.device)
    noise = torch.randn(b, nz, 1, 1, device=real.device)
    fake = netG(noise)

    # discriminator
    optimizerD.zero_grad()
    errD_real = criterion(netD(real), ones)
    errD_fake = criterion(netD(fake), zeros)  # expect: fake-not-detached
    errD = errD_real + errD_fake
    errD.backward(retain_graph=True)  # tolerated
    optimizerD.step()

    # generator
    optimizerG.zero_grad()
    errG = criterion(netD(fake), ones)
    errG.backward()
    optimizerG.step()
    return errD.item(), errG.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--niter", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--nz", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-4)
    opt = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    netG, netD = build_generator(opt.nz, 16).to(device), build_discriminator(4).to(device)
    optimizerG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optimizerD = torch.optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    for i in range(opt.niter):
        data = torch.rand(opt.batch_size, 1, 16, 16, device=device) * 2 - 1
        errD, errG = train_batch(netG, netD, optimizerG, optimizerD, data, opt.nz, criterion)
        if i % 4 == 0:
            print("[%d/%d] Loss_D: %.4f Loss_G: %.4f" % (i, opt.niter, errD, errG))


if __name__ == "__main__":
    main()
