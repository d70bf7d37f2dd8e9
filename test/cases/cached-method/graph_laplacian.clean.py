import functools
import math

import torch
import torch.nn as nn


@functools.lru_cache(maxsize=16)
def dct_matrix(size: int) -> torch.Tensor:
    n = torch.arange(size).float()
    basis = torch.cos(math.pi / size * (n + 0.5).unsqueeze(0) * n.unsqueeze(1))
    basis[0] /= math.sqrt(2)
    return basis * math.sqrt(2 / size)


@functools.cache
def bucket_size(length: int) -> int:
    return 1 << max(4, (length - 1).bit_length())


class SpectralMixer(nn.Module):
    def __init__(self, size=16, channels=12):
        super().__init__()
        self.size = size
        self.mix = nn.Conv1d(channels, channels, 3, padding=1)

    def forward(self, x):
        basis = dct_matrix(self.size).to(x.device)
        return x + torch.tanh(self.mix(x @ basis.T)) @ basis


def pad_to_bucket(signal):
    return nn.functional.pad(signal, (0, bucket_size(signal.size(-1)) - signal.size(-1)))


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(SpectralMixer(), SpectralMixer()).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        clean = pad_to_bucket(torch.randn(8, 12, 9 + step % 8, device=device))
        noisy = clean + 0.1 * torch.randn_like(clean)
        loss = nn.functional.mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, round(loss.item(), 4))


if __name__ == "__main__":
    main()
