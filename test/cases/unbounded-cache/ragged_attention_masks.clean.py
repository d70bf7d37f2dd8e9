import random
from collections import OrderedDict

import torch
import torch.nn as nn


class LRU:
    def __init__(self, size):
        self.size, self.items = size, OrderedDict()

    def get(self, key, make):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]
        value = make()
        self.items[key] = value
        if len(self.items) > self.size:
            self.items.popitem(last=False)
        return value


_POSITIONS = LRU(4)


def positions(length, dim, device):
    def make():
        t = torch.arange(length, device=device).unsqueeze(1)
        rate = torch.exp(-torch.arange(0, dim, 2, device=device) / dim * 9.2)
        return torch.cat([torch.sin(t * rate), torch.cos(t * rate)], dim=1)

    return _POSITIONS.get((length, dim), make)


def build_mlp(dims, dropouts=[0.1, 0.0], extra={}):
    layers = []
    for (a, b), p in zip(zip(dims, dims[1:]), dropouts):
        layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(extra.get("dropout", p))]
    return nn.Sequential(*layers)


def step(model, head, optimizer, x, y):
    h = model(x + positions(x.size(1), x.size(2), x.device))
    loss = nn.functional.cross_entropy(head(h.mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=24):
    random.seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, head = build_mlp([32, 48, 48]).to(device), nn.Linear(48, 3).to(device)
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-3)
    for i in range(steps):
        x = torch.randn(8, random.randint(10, 60), 32, device=device)
        loss = step(model, head, optimizer, x, torch.randint(0, 3, (8,), device=device))
        if i % 6 == 0:
            print(i, round(loss, 4))


if __name__ == "__main__":
    main()
