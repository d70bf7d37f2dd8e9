import itertools

import torch
import torch.nn as nn


class Mapper(nn.Module):
    def __init__(self, d=20, h=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, d))

    def forward(self, x):
        return x + self.net(x)


def main(steps=25, d=20):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    a2b, b2a = Mapper(d).to(device), Mapper(d).to(device)
    style = nn.Sequential(nn.Linear(d, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
    opt_map = torch.optim.Adam(itertools.chain(a2b.parameters(), b2a.parameters()), lr=1e-3)
    opt_style = torch.optim.Adam(style.parameters(), lr=1e-3)
    bce = nn.BCEWithLogitsLoss()
    for step in range(steps):
        a = torch.randn(32, d, device=device)
        b = torch.randn(32, d, device=device) + 1.0
        ones, zeros = torch.ones(32, 1, device=device), torch.zeros(32, 1, device=device)

        fake_b = a2b(a)
        opt_map.zero_grad()
        adversarial = bce(style(fake_b), ones)
        adversarial.backward(retain_graph=True)
        cycle = 10 * (b2a(fake_b) - a).abs().mean()
        if step % 2 == 0:
            cycle = cycle + 5 * (a2b(b) - b).abs().mean()
        cycle.backward()
        opt_map.step()

        opt_style.zero_grad()
        d_loss = bce(style(b), ones) + bce(style(fake_b.detach()), zeros)
        d_loss.backward()
        opt_style.step()
        if step % 8 == 0:
            print(f"{step} adv {adversarial.item():.3f} cyc {cycle.item():.3f} d {d_loss.item():.3f}")


if __name__ == "__main__":
    main()
