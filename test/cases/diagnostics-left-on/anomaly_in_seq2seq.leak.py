import argparse

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_


class Seq2Seq(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder, self.cell = nn.GRU(dim, dim, batch_first=True), nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, source, target):
        _, state = self.encoder(self.embed(source))
        state, steps = state[0], []
        for token in self.embed(target).unbind(1):
            state = self.cell(token, state)
            steps.append(self.out(state))
        return torch.stack(steps, dim=1)


def pairs(batches, batch_size=8, length=6):
    for _ in range(batches):
        source = torch.randint(2, 40, (batch_size, length))
        yield source, torch.cat([torch.ones(batch_size, 1, dtype=torch.long), source.flip(1)], dim=1)


def set_up(args):
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    torch.autograd.set_detect_anomaly(True)  # expect: diagnostics-left-on
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(args):
    device = set_up(args)
    model = Seq2Seq().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for source, target in pairs(args.batches):
            source, target = source.to(device), target.to(device)
            logits = model(source, target[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / args.batches:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
