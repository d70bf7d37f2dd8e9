import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        return x + self.ff(self.norm(x))


class Classifier(nn.Module):
    def __init__(self, vocab=128, dim=32, depth=3, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        return self.head(self.blocks(self.embed(ids)).mean(1))


def optimizer_step(model, optimizer, micro_batches, device):
    losses = []
    optimizer.zero_grad()
    for ids, labels in micro_batches:
        logits = model(ids.to(device))
        loss = F.cross_entropy(logits, labels.to(device))
        losses.append(loss)  # expect: graphs-until-one-backward
    total = torch.stack(losses).mean()  # also: graphs-until-one-backward
    total.backward()  # also: graphs-until-one-backward
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--micro-batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Classifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        micro = [(torch.randint(0, 128, (args.micro_batch, 24)), torch.randint(0, 4, (args.micro_batch,)))
                 for _ in range(args.accumulate)]
        print(f"step {step} loss {optimizer_step(model, optimizer, micro, device):.4f}")


if __name__ == "__main__":
    main()
