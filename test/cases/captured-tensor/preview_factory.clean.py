import atexit
import time

import torch
import torch.nn as nn


class Speller(nn.Module):
    def __init__(self, vocab=30, dim=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.out(hidden)


def stopwatch():
    begin = time.perf_counter()
    return lambda: time.perf_counter() - begin


def train_epoch(model, optimizer, device, steps):
    total = 0.0
    for _ in range(steps):
        ids = torch.randint(0, 30, (16, 21), device=device)
        logits = model(ids[:, :-1])
        score = lambda shift: nn.functional.cross_entropy(logits[:, shift:].flatten(0, 1), ids[:, 1 + shift :].flatten())
        loss = score(0) + 0.5 * score(5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


@torch.no_grad()
def beam(model, ids, width=3, length=5):
    beams = [(0.0, ids)]
    for _ in range(length):
        grown = []
        for score, prefix in beams:
            top = model(prefix)[0, -1].log_softmax(0).topk(width)
            for value, token in zip(top.values.tolist(), top.indices.view(-1, 1, 1)):
                grown.append((score + value, torch.cat([prefix, token], dim=1)))
        beams = sorted(grown, key=lambda pair: pair[0], reverse=True)[:width]
    return max(beams, key=lambda pair: pair[0])[1][0].tolist()


def main(epochs=3):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, elapsed = Speller().to(device), stopwatch()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    atexit.register(lambda: print("trained", epochs, "epochs", elapsed() > 0))
    for epoch in range(epochs):
        print(epoch, round(train_epoch(model, optimizer, device, steps=5), 4))
    print(beam(model, torch.tensor([[1, 2]], device=device)))


if __name__ == "__main__":
    main()
