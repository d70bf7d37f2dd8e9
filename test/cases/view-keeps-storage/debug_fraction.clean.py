import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def tokenise_corpus(rows, length, vocab, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 7, (rows, length), generator=generator).cumsum(1) % vocab


class PackedTokens(Dataset):
    """The corpus and its two parts, which share its memory."""

    def __init__(self, rows, length=96, vocab=256, seed=0):
        self.tokens = tokenise_corpus(rows, length, vocab, seed)
        self.train, self.valid = self.tokens.split([rows - rows // 10, rows // 10])
        self.inputs, self.targets = self.tokens[:, :-1], self.tokens[:, 1:]
        self.vocab = vocab

    def __len__(self):
        return len(self.train)

    def __getitem__(self, index):
        return self.inputs[index], self.targets[index]


class Sampled(Dataset):
    """A random tenth: rows are picked by number, so they are copies."""

    def __init__(self, rows, length=96, vocab=256):
        tokens = tokenise_corpus(rows, length, vocab, seed=1)
        picked = torch.randperm(rows)[: rows // 10]
        self.rows = tokens[picked]
        self.longest = tokens.max(dim=1).values[:4].tolist()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        return row[:-1], row[1:]


def train(model, dataset, optimizer, device):
    running = 0.0
    for ids, nxt in DataLoader(dataset, batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(ids.to(device)).flatten(0, 1), nxt.to(device).flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Embedding(256, 32), nn.Tanh(), nn.Linear(32, 256)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for dataset in (Sampled(args.rows), PackedTokens(args.rows)):
        print(type(dataset).__name__, len(dataset), round(train(model, dataset, optimizer, device), 3))


if __name__ == "__main__":
    main()
