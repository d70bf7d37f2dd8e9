import random
from typing import Sequence

import torch
import torch.nn as nn


def attention_mask(lengths: Sequence[int], device):
    """Boolean mask of the padded positions, one square per sequence."""
    limit = torch.tensor(lengths, device=device)
    valid = torch.arange(max(lengths), device=device).unsqueeze(0) < limit.unsqueeze(1)
    return valid.unsqueeze(1) & valid.unsqueeze(2)


def collate(texts, device):
    lengths = [len(t) for t in texts]
    padded = torch.zeros(len(texts), max(lengths), dtype=torch.long)
    for row, text in zip(padded, texts):
        row[: len(text)] = torch.tensor(text)
    return padded.to(device), lengths


class Tagger(nn.Module):
    def __init__(self, vocab=90, dim=32, tags=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, tags)

    def forward(self, ids, lengths):
        x = self.embed(ids)
        mask = attention_mask(lengths, ids.device)
        scores = (self.q(x) @ self.k(x).transpose(1, 2)).masked_fill(~mask, -1e4)
        return self.out(x + scores.softmax(-1) @ self.v(x))


def corpus(batches, batch_size=16):
    for _ in range(batches):
        yield [[random.randrange(1, 90) for _ in range(random.randint(20, 60))] for _ in range(batch_size)]


def train_step(model, optimizer, texts, device):
    ids, lengths = collate(texts, device)
    logits = model(ids, lengths)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), (ids % 4).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    random.seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tagger = Tagger().to(device)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=2e-3)
    for number, texts in enumerate(corpus(25)):
        loss = train_step(tagger, optimizer, texts, device)
        if number % 8 == 0:
            print(number, f"{loss:.4f}")
