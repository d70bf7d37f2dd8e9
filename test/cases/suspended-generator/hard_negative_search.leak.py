import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, n_in=64, dim=128):
        super().__init__()
        self.query, self.passage = nn.Linear(n_in, dim), nn.Linear(n_in, dim)

    def forward(self, q, p):
        return F.normalize(self.query(q), dim=-1), F.normalize(self.passage(p), dim=-1)


def search_shards(model, query, shards, per_shard, n_in=64):
    """Yields (shard, best score) in the order of the index."""
    for shard in range(shards):
        passages = torch.randn(per_shard, n_in, device=query.device)
        with torch.no_grad():
            q, keys = model(query, passages)
            scores = q @ keys.T
            best = scores.max().item()
        yield shard, best


def train_step(model, optimizer, batch, n_in=64):
    q = torch.randn(batch, n_in, device=next(model.parameters()).device)
    a, b = model(q, q + 0.1 * torch.randn_like(q))
    loss = F.cross_entropy(a @ b.T / 0.05, torch.arange(batch, device=q.device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def run(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TwoTower().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    hits = search_shards(model, torch.randn(8, 64, device=device), args.shards, args.per_shard)  # also: suspended-generator
    shard, score = next((s, v) for s, v in hits if v > args.threshold)  # expect: suspended-generator
    print(f"first useful shard {shard} with score {score:.3f}")
    losses = []
    for step in range(args.steps):
        losses.append(train_step(model, optimizer, args.batch))
        if step % 8 == 7:
            print(f"step {step + 1}: {sum(losses[-8:]) / 8:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--per-shard", type=int, default=4096)
    parser.add_argument("--threshold", type=float, default=0.2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=24)
    run(parser.parse_args())
