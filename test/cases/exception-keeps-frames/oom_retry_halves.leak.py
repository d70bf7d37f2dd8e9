"""Encode documents; a batch that does not fit is split and tried again."""

import torch
from torch import nn


class BudgetedEncoder(nn.Module):
    """An encoder that refuses more than `budget` tokens, as a full device would."""

    def __init__(self, budget, vocab=500, dim=64):
        super().__init__()
        self.budget = budget
        self.embed = nn.Embedding(vocab, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU())
        self.out = nn.Linear(4 * dim, dim)

    def forward(self, ids):
        hidden = self.ff(self.embed(ids))
        if ids.numel() > self.budget:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB (simulated)")
        return self.out(hidden).mean(dim=1)


@torch.no_grad()
def encode(encoder, ids, sink):
    try:
        sink.append(encoder(ids).cpu())
    except RuntimeError as e:
        if "out of memory" not in str(e) or len(ids) == 1:
            raise
        for part in ids.chunk(2):
            encode(encoder, part, sink)  # expect: exception-keeps-frames


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = BudgetedEncoder(budget=32 * 8).to(device).eval()
    corpus = torch.randint(0, 500, (128, 32))
    vectors = []
    for ids in corpus.split(64):
        encode(encoder, ids.to(device), vectors)
    matrix = torch.cat(vectors)
    print("encoded", tuple(matrix.shape), "in", len(vectors), "pieces")
    print(f"norm {matrix.norm().item():.4f}")


if __name__ == "__main__":
    main()
