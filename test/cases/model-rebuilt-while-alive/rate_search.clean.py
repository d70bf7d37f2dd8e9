"""Halve the learning rate until the loss is finite and small; every trial is a call that returns a number."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Learner:
    def __init__(self, arch, lr, device):
        self.device = device
        self.model = arch.to(device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.recorder = []

    def one_batch(self, xb, yb):
        self.model.train()
        loss = F.cross_entropy(self.model(xb.to(self.device)), yb.to(self.device))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.recorder.append(loss.item())

    def fit(self, n_epochs, batches):
        for _ in range(n_epochs):
            for xb, yb in batches:
                self.one_batch(xb, yb)
        return sum(self.recorder[-len(batches) :]) / len(batches)


def mlp(width=256, inputs=32, classes=5):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes))


def trial(rate, batches, device):
    torch.manual_seed(1)
    learner = Learner(mlp(), rate, device)
    return learner.fit(2, batches)


def search(batches, start, target, limit, device):
    rate = start
    while rate >= limit:
        final = trial(rate, batches, device)
        print(f"rate {rate:.1e}: {final:.4f}")
        if final < target:
            return rate, final
        rate /= 2
    return None, float("nan")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    batches = [(torch.randn(16, 32), torch.randint(0, 5, (16,))) for _ in range(4)]
    print("chosen", search(batches, 0.8, 1e-4, 0.1, device))


if __name__ == "__main__":
    main()
