import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(1 if i == 0 else channels, channels, 3, padding=2**i, dilation=2**i) for i in range(3)])
        self.out = nn.Conv1d(channels, 1, 1)

    def forward(self, wave):
        for layer in self.layers:
            wave = torch.tanh(layer(wave))
        return self.out(wave)


def synthesise(n, length, device):
    pitch = torch.randint(1, 5, (n,), device=device)
    t = torch.linspace(0, 2 * math.pi, length, device=device)
    return torch.sin(20 * pitch[:, None] * t).unsqueeze(1)


def train(net, optimizer, device, n=96, length=800, epochs=3):
    target = synthesise(n, length, device)
    noisy = target.clone()
    noisy.add_(torch.randn_like(noisy), alpha=0.2)
    for epoch in range(epochs):
        total = 0.0
        for index in torch.randperm(n, device=device).split(16):
            loss = nn.functional.mse_loss(net(noisy[index]), target[index])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} error {total:.4f}")


if __name__ == "__main__":
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Denoiser().to(device)
    train(net, torch.optim.Adam(net.parameters(), lr=1e-2), device)
