import gc

import torch
from torch import nn


def clear_memory():
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


class Tokens(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, ids):
        h = self.embed(ids)
        return (h + self.mix(h)).mean(1)


class Ranker(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Bilinear(dim, dim, 1)

    def forward(self, a, b):
        return self.score(a, b).squeeze(-1)


@torch.no_grad()
def embed_all(model, ids, batch_size, device):
    vectors = torch.empty(len(ids), model.embed.embedding_dim)
    for start in range(0, len(ids), batch_size):
        vectors[start : start + batch_size] = model(ids[start : start + batch_size].to(device)).cpu()
    return vectors


def train_ranker(ranker, vectors, steps, device):
    optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)
    value = 0.0
    for _ in range(steps):
        rows = torch.randint(0, len(vectors), (2, 64))
        a, b = vectors[rows[0]].to(device), vectors[rows[1]].to(device)
        loss = nn.functional.mse_loss(ranker(a, b), (a * b).sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
    return value


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = Tokens(vocab=4000, dim=64).to(device).eval()
    vectors = embed_all(encoder, torch.randint(0, 4000, (600, 20)), 50, device)
    del encoder
    clear_memory()
    ranker = Ranker(64).to(device)
    print("ranker loss", round(train_ranker(ranker, vectors, 60, device), 4))


if __name__ == "__main__":
    main()
