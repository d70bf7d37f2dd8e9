import torch
import torch.nn as nn


def block(cin, cout, norm=True):
    layers = [nn.Conv2d(cin, cout, 3, padding=1)]
    if norm:
        layers.append(nn.InstanceNorm2d(cout))
    return nn.Sequential(*layers, nn.ReLU())


class TranslationModel:
    def __init__(self, device, lambda_l1=100.0):
        self.device, self.lambda_l1 = device, lambda_l1
        self.netG = nn.Sequential(*(block(c, 24) for c in (3, 24, 24)), nn.Conv2d(24, 3, 1), nn.Tanh()).to(device)
        self.netD = nn.Sequential(
            nn.Conv2d(6, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 1, 4)
        ).to(device)
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.criterionGAN, self.criterionL1 = nn.BCEWithLogitsLoss(), nn.L1Loss()

    def gan_loss(self, prediction, is_real):
        return self.criterionGAN(prediction, torch.full_like(prediction, float(is_real)))

    def backward_D(self, real_A, real_B, fake_B):
        fake_AB = torch.cat((real_A, fake_B), 1)
        pred_fake = self.netD(fake_AB.detach())
        real_AB = torch.cat((real_A, real_B), 1)
        loss_D = 0.5 * (self.gan_loss(pred_fake, False) + self.gan_loss(self.netD(real_AB), True))
        loss_D.backward()
        return loss_D.item()

    def backward_G(self, real_A, real_B, fake_B):
        pred_fake = self.netD(torch.cat((real_A, fake_B), 1))
        loss_G = self.gan_loss(pred_fake, True) + self.lambda_l1 * self.criterionL1(fake_B, real_B)
        loss_G.backward()
        return loss_G.item()

    def optimize_parameters(self, real_A, real_B):
        fake_B = self.netG(real_A)
        self.optimizer_D.zero_grad()
        loss_D = self.backward_D(real_A, real_B, fake_B)
        self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        loss_G = self.backward_G(real_A, real_B, fake_B)
        self.optimizer_G.step()
        return {"D": loss_D, "G": loss_G}


def main(epochs=2, pairs=6):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TranslationModel(device)
    for epoch in range(epochs):
        for i in range(pairs):
            sketch = torch.rand(2, 3, 32, 32, device=device) * 2 - 1
            losses = model.optimize_parameters(sketch, sketch.flip(1))
        print(epoch, {k: round(v, 4) for k, v in losses.items()})


if __name__ == "__main__":
    main()
