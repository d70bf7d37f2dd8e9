"""Every fold starts from the same weights: the host copy of them is put back before each."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Restarts:
    def __init__(self, model):
        self.saved = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        self.count = 0

    def restore(self, model):
        model.load_state_dict(self.saved)
        self.count += 1


def train(model, size, steps, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    total = 0.0
    for _ in range(steps):
        x = torch.randn(size, 40, device=device)
        loss = F.mse_loss(model(x), x.mean(dim=1, keepdim=True))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.zero_grad(set_to_none=True)
    return total / steps


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(40, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1)).to(device)
    restarts = Restarts(model)
    results = {}
    for size in (16, 32, 64):
        restarts.restore(model)
        results[size] = train(model, size, 5, device)
        print(f"batch size {size} loss {results[size]:.5f}")
    print("restarts", restarts.count, "best", min(results, key=results.get))


if __name__ == "__main__":
    main()
