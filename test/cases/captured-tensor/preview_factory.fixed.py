import atexit

import torch
import torch.nn as nn


class VAE(nn.Module):
    def __init__(self, pixels=256, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 96), nn.ReLU(), nn.Linear(96, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 96), nn.ReLU(), nn.Linear(96, pixels))

    def forward(self, x):
        mu, log_var = self.encoder(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * log_var).exp()
        kl = -0.5 * (1 + log_var - mu.square() - log_var.exp()).sum(1).mean()
        return self.decoder(z), kl


def train_epoch(model, optimizer, batches):
    total = 0.0
    for x in batches:
        logits, kl = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean() + kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


@torch.no_grad()
def reconstruct(model, batch):
    logits, _ = model(batch)
    return logits.sigmoid()


def make_summary(epoch, image):
    def summary():
        if epoch % 4 == 0:
            print(f"epoch {epoch}: brightness {torch.as_tensor(image).mean().item():.4f}")

    return summary


def main(epochs=12):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = VAE().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = [torch.rand(64, 256, device=device).round() for _ in range(3)]
    for epoch in range(epochs):
        loss = train_epoch(model, optimizer, batches)
        atexit.register(make_summary(epoch, reconstruct(model, batches[0]).mean().item()))
    print(f"last loss {loss:.3f}")


if __name__ == "__main__":
    main()
