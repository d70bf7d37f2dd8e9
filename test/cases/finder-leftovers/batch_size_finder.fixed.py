"""Doubles the batch until the step fails, puts the weights back and trains with the largest that worked."""

import torch
import torch.nn as nn
import torch.nn.functional as F

LIMIT = 100


class BatchSizeFinder:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.saved = {k: v.clone() for k, v in model.state_dict().items()}
        self.size = 4

    def try_size(self, size, device):
        x = torch.randn(size, 40, device=device)
        if size > LIMIT:
            raise RuntimeError(f"CUDA out of memory with {size} samples (simulated)")
        self.optimizer.zero_grad(set_to_none=True)
        F.mse_loss(self.model(x), x.mean(dim=1, keepdim=True)).backward()
        self.optimizer.step()

    def search(self, device):
        while True:
            try:
                self.try_size(self.size * 2, device)
            except RuntimeError as err:
                print(str(err))
                break
            self.size *= 2
        self.model.load_state_dict(self.saved)
        self.optimizer.zero_grad(set_to_none=True)
        return self.size


def train(model, optimizer, size, steps, device):
    total = 0.0
    for _ in range(steps):
        x = torch.randn(size, 40, device=device)
        loss = F.mse_loss(model(x), x.mean(dim=1, keepdim=True))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(40, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    finder = BatchSizeFinder(model, optimizer)
    size = finder.search(device)
    del finder
    print(f"batch size {size}")
    for epoch in range(3):
        print(f"epoch {epoch} loss {train(model, optimizer, size, 5, device):.5f}")


if __name__ == "__main__":
    main()
