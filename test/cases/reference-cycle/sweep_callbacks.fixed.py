import itertools
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F


class EarlyStopping:
    def __init__(self, trainer, patience):
        self.trainer = weakref.proxy(trainer)
        self.patience = patience
        self.best, self.bad = float("inf"), 0

    def after_epoch(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        if self.bad >= self.patience:
            self.trainer.stop = True


class Trainer:
    def __init__(self, width, lr, device, patience=2):
        self.device = device
        self.model = nn.Sequential(nn.Linear(40, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))
        self.model.to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.stop = False
        self.early_stopping = EarlyStopping(self, patience)

    def epoch(self, x, y):
        total = 0.0
        for rows in torch.arange(len(x), device=self.device).split(64):
            self.optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(self.model(x[rows]), y[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total

    def fit(self, x, y, max_epochs):
        for number in range(max_epochs):
            total = self.epoch(x, y)
            self.early_stopping.after_epoch(total)
            if self.stop:
                break
        return self.early_stopping.best, number + 1


def trial(width, lr, data, device):
    trainer = Trainer(width, lr, device)
    return trainer.fit(*data, max_epochs=3)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(256, 40, device=device)
    data = x, x[:, :3].argmax(1)
    results = {}
    for width, lr in itertools.product((64, 96, 128, 160), (1e-3, 3e-3, 1e-2)):
        results[width, lr] = trial(width, lr, data, device)
    best = min(results, key=lambda key: results[key][0])
    print(f"best width {best[0]}, lr {best[1]}: loss {results[best][0]:.4f} after {results[best][1]} epochs")


if __name__ == "__main__":
    main()
