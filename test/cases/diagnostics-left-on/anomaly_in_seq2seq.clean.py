import argparse

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_


class Tagger(nn.Module):
    def __init__(self, vocab=40, dim=32, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, source):
        return self.out(self.encoder(self.embed(source))[0])


def loss_of(model, source, tags):
    return nn.functional.cross_entropy(model(source).flatten(0, 1), tags.flatten())


def explain(model, source, tags):
    """The step that gave a NaN once more, with the operation that made it."""
    with torch.autograd.detect_anomaly():
        loss_of(model, source, tags).backward()


def train(args):
    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(args.debug)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if args.debug and device.type == "cuda":
        torch.cuda.memory._record_memory_history(max_entries=100_000)
    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for _ in range(args.batches):
            source = torch.randint(0, 40, (16, 12), device=device)
            loss = loss_of(model, source, source % 5)
            optimizer.zero_grad()
            if not torch.isfinite(loss):
                explain(model, source, source % 5)
                break
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / args.batches:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--debug", action="store_true")
    train(parser.parse_args())
