"""Domain adaptation: a labelled batch of the source and any batch of the target in every step."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Adapter(nn.Module):
    def __init__(self, n_in=32, width=64, classes=5):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_in, width), nn.ReLU())
        self.classify = nn.Linear(width, classes)

    def forward(self, x):
        h = self.features(x)
        return h, self.classify(h)


def coral(a, b):
    """Distance of the covariances of two batches."""
    return (torch.cov(a.T) - torch.cov(b.T)).square().mean()


def domains(rows=256):
    y = torch.arange(rows) % 5
    source = torch.randn(rows, 32) + 2 * F.one_hot(y, 32)
    return TensorDataset(source, y), TensorDataset(source[torch.randperm(rows)] * 1.3 + 0.2)


def adapt(steps, weight, device):
    source, target = domains()
    source_loader = DataLoader(source, batch_size=16, shuffle=True)
    target_loader = DataLoader(target, batch_size=16, shuffle=True, num_workers=1)
    model = Adapter().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    source_batches, target_batches = iter(source_loader), iter(target_loader)
    for step in range(steps):
        x_s, y_s = next(source_batches)
        (x_t,) = next(target_batches)
        h_s, logits = model(x_s.to(device))
        h_t, _ = model(x_t.to(device))
        loss = F.cross_entropy(logits, y_s.to(device)) + weight * coral(h_s, h_t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    adapt(9, 0.5, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
