import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def tokenise_corpus(rows, length, vocab, seed, device):
    """Stands in for a tokeniser: Markov-like integer sequences."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(0, 7, (rows, length), generator=generator)
    return (steps.cumsum(1) % vocab).to(device)


class PackedTokens(Dataset):
    def __init__(self, rows, length=128, vocab=256, fraction=1.0, seed=0, device="cpu"):
        tokens = tokenise_corpus(rows, length, vocab, seed, device)
        keep = max(1, int(rows * fraction))
        self.tokens = tokens[:keep]  # expect: view-keeps-storage
        self.vocab = vocab

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        row = self.tokens[index]
        return row[:-1], row[1:]


class Bigram(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed, self.out = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(torch.tanh(self.embed(ids)))


def train(dataset, epochs, device):
    model = Bigram(dataset.vocab).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    for epoch in range(epochs):
        running = 0.0
        for ids, nxt in loader:
            loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), nxt.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / max(1, len(dataset) // 8):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--fraction", type=float, default=0.02, help="share of the corpus for a quick run")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train(PackedTokens(args.rows, fraction=args.fraction, device=device), args.epochs, device)
