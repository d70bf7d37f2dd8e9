import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_model(width=384):
    return nn.Sequential(nn.Linear(48, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8))


def batches(n, device):
    for _ in range(n):
        x = torch.randn(32, 48, device=device)
        yield x, x[:, :8].argmax(dim=1)


def train_step(model, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def find_lr(model, device):
    trial = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(trial.parameters(), lr=1e-6)
    lr, best_lr, best_slope, last = 1e-6, 1e-3, 0.0, None
    for x, y in batches(12, device):
        optimizer.param_groups[0]["lr"] = lr
        value = train_step(trial, optimizer, x, y)
        if last is not None and value - last < best_slope:
            best_slope, best_lr = value - last, lr
        last, lr = value, lr * math.sqrt(10)
    return best_lr


def main(epochs=3):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = make_model().to(device)
    lr = find_lr(model, device)
    print(f"learning rate {lr:.2e}")
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    for epoch in range(epochs):
        losses = []
        for x, y in batches(5, device):
            losses.append(train_step(model, optimizer, x, y))
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
