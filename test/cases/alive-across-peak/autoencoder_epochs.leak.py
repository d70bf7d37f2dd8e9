import torch
from torch import nn, optim
from torch.nn import functional as F


class ConvVAE(nn.Module):
    def __init__(self, latent=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 24 * 24, 2 * latent))
        self.dec = nn.Linear(latent, 48 * 48)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return torch.sigmoid(self.dec(z)).view_as(x), mu, logvar


def elbo(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    return (bce - 0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()) / len(x)


def train(vae, optimiser, batches, device):
    vae.train()
    seen = 0
    for i, x in enumerate(batches):
        x = x.to(device)
        recon, mu, logvar = vae(x)
        loss = elbo(recon, x, mu, logvar)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        seen += len(x)
    print(f"trained on {seen}, loss {loss.item():.2f}")  # expect: alive-across-peak
    return generate(vae, 512, 16, device)  # also: alive-across-peak


@torch.no_grad()
def generate(vae, count, latent, device):
    vae.eval()
    z = torch.randn(count, latent, device=device)
    images = torch.sigmoid(vae.dec(z))
    return images.std(dim=1).mean().item()


def digits(n, batch):
    for _ in range(n):
        yield torch.rand(batch, 1, 48, 48)


def main():
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vae = ConvVAE().to(device)
    optimiser = optim.Adam(vae.parameters(), lr=1e-3)
    for epoch in range(4):
        spread = train(vae, optimiser, digits(5, 96), device)
        print(f"epoch {epoch} spread of samples {spread:.4f}")


if __name__ == "__main__":
    main()
