"""Encode documents with the largest batch that fits; the size is halved after a failure."""

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


def try_batch(encoder, ids):
    try:
        return encoder(ids).cpu()
    except RuntimeError as e:
        if "out of memory" not in str(e):
            raise
        print("does not fit:", len(ids), str(e).split(".")[0])
        return None


@torch.no_grad()
def encode_all(encoder, corpus, device, size=64):
    vectors, start = [], 0
    while start < len(corpus):
        piece = try_batch(encoder, corpus[start : start + size].to(device))
        if piece is None:
            size = max(1, size // 2)
            torch.cuda.empty_cache()
            continue
        vectors.append(piece)
        start += size
    return torch.cat(vectors)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = BudgetedEncoder(budget=32 * 8).to(device).eval()
    matrix = encode_all(encoder, torch.randint(0, 500, (128, 32)), device)
    print("encoded", tuple(matrix.shape))
    print(f"norm {matrix.norm().item():.4f}")


if __name__ == "__main__":
    main()
