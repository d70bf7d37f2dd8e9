import argparse
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F


def build(args, device):
    encoder = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(64, args.feat_dim),
    ).to(device)
    prototypes = nn.Linear(args.feat_dim, args.n_proto, bias=False).to(device)
    return SimpleNamespace(encoder=encoder, prototypes=prototypes)


@torch.no_grad()
def sinkhorn(scores, iterations=3, eps=0.05):
    q = torch.exp(scores / eps).T
    q /= q.sum()
    for _ in range(iterations):
        q /= q.sum(1, keepdim=True) * q.size(0)
        q /= q.sum(0, keepdim=True) * q.size(1)
    return (q * q.size(1)).T


def train_one_epoch(nets, optimizer, queue, args, device):
    history = []
    for it in range(args.iters):
        crops = torch.rand(2, args.batch, 3, 20, 20, device=device)
        z = [F.normalize(nets.encoder(c), dim=1) for c in crops]
        logits = [nets.prototypes(e) for e in z]
        with torch.no_grad():
            bank_scores = nets.prototypes(queue)
            codes = [sinkhorn(torch.cat([bank_scores, s]))[-args.batch:] for s in logits]
        loss = -(codes[0] * F.log_softmax(logits[1] / 0.1, dim=1)).sum(1).mean()
        loss = loss - (codes[1] * F.log_softmax(logits[0] / 0.1, dim=1)).sum(1).mean()
        queue = torch.cat((z[0].detach(), queue[:-args.batch]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return queue, sum(history) / len(history)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--iters", type=int, default=40)
    parser.add_argument("--feat_dim", type=int, default=24)
    parser.add_argument("--n_proto", type=int, default=20)
    parser.add_argument("--queue_len", type=int, default=96)
    args = parser.parse_args()
    torch.manual_seed(31)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    nets = build(args, device)
    optimizer = torch.optim.SGD([*nets.encoder.parameters(), *nets.prototypes.parameters()], lr=0.05)
    queue = F.normalize(torch.randn(args.queue_len, args.feat_dim, device=device), dim=1)
    for epoch in range(1):
        queue, loss = train_one_epoch(nets, optimizer, queue, args, device)
        print(f"epoch {epoch} loss {loss:.4f} queue {tuple(queue.shape)}")


if __name__ == "__main__":
    main()
