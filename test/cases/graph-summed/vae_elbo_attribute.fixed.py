import torch
from torch import nn, optim
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, d=196, h=128, z=8):
        super().__init__()
        self.fc1, self.mu, self.logvar = nn.Linear(d, h), nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(0.5 * logvar)
        return self.dec(mu + torch.randn_like(std) * std), mu, logvar


class Experiment:
    def __init__(self, model, device, beta=1.0):
        self.model, self.device, self.beta = model.to(device), device, beta
        self.opt = optim.Adam(model.parameters(), lr=1e-3)
        self.val_elbo = 0.0
        self.val_kl = 0.0

    def elbo(self, x):
        recon, mu, logvar = self.model(x)
        bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return (bce + self.beta * kl) / x.size(0), kl / x.size(0)

    def train_epoch(self, batches):
        self.model.train()
        seen = 0.0
        for x in batches:
            loss, _ = self.elbo(x.to(self.device))
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            seen += loss.item()
        return seen / len(batches)

    def validate(self, batches):
        self.model.eval()
        self.val_elbo, self.val_kl = 0.0, 0.0
        for x in batches:
            loss, kl = self.elbo(x.to(self.device))
            self.val_elbo += loss.item()
            self.val_kl += kl.item()
        return float(self.val_elbo) / len(batches), self.val_kl / len(batches)


if __name__ == "__main__":
    torch.manual_seed(0)
    exp = Experiment(VAE(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    train_set = [torch.rand(32, 196) for _ in range(8)]
    val_set = [torch.rand(32, 196) for _ in range(24)]
    for epoch in range(2):
        tr = exp.train_epoch(train_set)
        va, kl = exp.validate(val_set)
        print(f"epoch {epoch}: train {tr:.2f} val {va:.2f} kl {kl:.3f}")
