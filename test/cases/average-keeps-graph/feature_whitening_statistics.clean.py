import torch
from torch import nn


class VectorQuantizerEMA(nn.Module):
    def __init__(self, codes=32, dim=8, decay=0.99, beta=0.25):
        super().__init__()
        embed = torch.randn(codes, dim)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.ones(codes))
        self.register_buffer("embed_avg", embed.clone())
        self.decay, self.beta = decay, beta

    def forward(self, z):
        flat = z.detach()
        index = torch.cdist(flat, self.embed).argmin(1)
        quantized = self.embed[index]
        if self.training:
            one_hot = nn.functional.one_hot(index, len(self.embed)).type_as(flat)
            self.cluster_size = self.decay * self.cluster_size + (1 - self.decay) * one_hot.sum(0)
            self.embed_avg = self.decay * self.embed_avg + (1 - self.decay) * one_hot.T @ flat
            self.embed = self.embed_avg / self.cluster_size.clamp_min(1e-3).unsqueeze(1)
        commit = self.beta * (z - quantized).pow(2).mean()
        return z + (quantized - z).detach(), commit, index


class VQAutoencoder(nn.Module):
    def __init__(self, d=24, dim=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, dim))
        self.vq = VectorQuantizerEMA(dim=dim)
        self.dec = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, d))
        self.register_buffer("input_mean", torch.zeros(d))

    def forward(self, x):
        if self.training:
            self.input_mean.mul_(0.9).add_(x.mean(0).detach(), alpha=0.1)
        q, commit, index = self.vq(self.enc(x - self.input_mean))
        return self.dec(q) + self.input_mean, commit, index


def train(model, device, steps=50):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    usage = torch.zeros(32, dtype=torch.long)
    for step in range(steps):
        x = torch.randn(64, 24, device=device)
        recon, commit, index = model(x)
        loss = nn.functional.mse_loss(recon, x) + commit
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        usage += torch.bincount(index.cpu(), minlength=32)
        if step % 10 == 0:
            print(f"{step} loss {loss.item():.4f} codes used {(usage > 0).sum().item()}")


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train(VQAutoencoder().to(dev), dev)
