import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class MLPMixerLM(nn.Module):
    def __init__(self, vocab=256, dim=256, context=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.embed(ids).cumsum(1)
        return self.head(h + self.mix(h))


def batch(size, device):
    start = torch.randint(0, 256, (size, 1), device=device)
    ids = (start + torch.arange(17, device=device)) % 256
    return ids[:, :-1], ids[:, 1:]


def train(model, optimizer, epochs, steps, device):
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):  # expect: autocast-cache
        for epoch in range(epochs):
            total = 0.0
            for _ in range(steps):
                inputs, targets = batch(16, device)
                loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total += loss.item()
            print(f"epoch {epoch}: {total / steps:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MLPMixerLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    train(model, optimizer, args.epochs, args.steps, device)


if __name__ == "__main__":
    main()
