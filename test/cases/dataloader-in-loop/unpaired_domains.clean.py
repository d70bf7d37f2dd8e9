"""Domain adaptation with an endless supply of target batches; the iterator is made again when it is used up."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Supply:
    def __init__(self, loader):
        self.loader = loader
        self.batches = iter(loader)

    def take(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return next(self.batches)


class Adapter(nn.Module):
    def __init__(self, n_in=32, width=64, classes=5):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_in, width), nn.ReLU())
        self.classify = nn.Linear(width, classes)

    def forward(self, x):
        h = self.features(x)
        return h, self.classify(h)


def loaders(rows, batch_size, workers=0):
    y = torch.arange(rows) % 5
    source = torch.randn(rows, 32) + 2 * F.one_hot(y, 32)
    target = TensorDataset(source[torch.randperm(rows // 2)] * 1.3 + 0.2)
    kwargs = {"batch_size": batch_size, "shuffle": True, "num_workers": workers, "persistent_workers": workers > 0}
    return DataLoader(TensorDataset(source, y), **kwargs), DataLoader(target, **kwargs)


def adapt(epochs, device):
    source_loader, target_loader = loaders(256, 16)
    sample, _ = next(iter(source_loader))
    model = Adapter(n_in=sample.shape[1]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    supply = Supply(target_loader)
    for epoch in range(epochs):
        total = 0.0
        for x_s, y_s in source_loader:
            (x_t,) = supply.take()
            h_s, logits = model(x_s.to(device))
            h_t, _ = model(x_t.to(device))
            gap = (h_s.mean(0) - h_t.mean(0)).square().mean()
            loss = F.cross_entropy(logits, y_s.to(device)) + 0.5 * gap
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(source_loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    adapt(4, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
