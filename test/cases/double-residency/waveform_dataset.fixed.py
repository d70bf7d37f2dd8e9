import math

import torch
from torch import nn


class WaveNetLite(nn.Module):
    def __init__(self, channels=8, classes=4):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(1 if i == 0 else channels, channels, 3, padding=2**i, dilation=2**i) for i in range(3)])
        self.out = nn.Linear(channels, classes)

    def forward(self, wave):
        for layer in self.layers:
            wave = torch.tanh(layer(wave))
        return self.out(wave.mean(dim=-1))


def synthesise(n, length, device):
    pitch = torch.randint(1, 5, (n,), device=device)
    t = torch.linspace(0, 2 * math.pi, length, device=device, dtype=torch.float64)
    waves = torch.sin(20 * pitch[:, None] * t) + 0.1 * torch.randn(n, length, device=device, dtype=torch.float64)
    return waves, pitch - 1


def train(net, optimizer, device, n=64, length=1200, epochs=2):
    waves, labels = synthesise(n, length, device)
    mean, std = waves.mean(), waves.std()
    waves = ((waves - mean) / std).float().unsqueeze(1)
    print(f"mean {mean.item():.4f} std {std.item():.4f}")
    for epoch in range(epochs):
        correct = 0
        for index in torch.randperm(n, device=device).split(16):
            logits = net(waves[index])
            loss = nn.functional.cross_entropy(logits, labels[index])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(dim=1) == labels[index]).sum().item()
        print(f"epoch {epoch} accuracy {correct / n:.3f}")


if __name__ == "__main__":
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = WaveNetLite().to(device)
    train(net, torch.optim.Adam(net.parameters(), lr=1e-2), device)
