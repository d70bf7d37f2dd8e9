import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class SineTask:
    def __init__(self, device):
        self.amplitude, self.phase = torch.rand(2, device=device) * 3

    def sample(self, n):
        x = torch.rand(n, 1, device=self.phase.device) * 10 - 5
        return x, self.amplitude * torch.sin(x + self.phase)


def adapt(model, weights, task, shots, inner_lr, inner_steps):
    for _ in range(inner_steps):
        x, y = task.sample(shots)
        loss = F.mse_loss(functional_call(model, weights, (x,)), y)
        grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {name: w - inner_lr * g for (name, w), g in zip(weights.items(), grads)}
    return weights


def meta_step(model, optimizer, tasks, shots=10, inner_lr=0.01):
    optimizer.zero_grad()
    total = 0.0
    for task in tasks:
        fast = adapt(model, dict(model.named_parameters()), task, shots, inner_lr, inner_steps=2)
        x, y = task.sample(shots)
        loss = F.mse_loss(functional_call(model, fast, (x,)), y) / len(tasks)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def main(iterations=10):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for it in range(iterations):
        loss = meta_step(model, optimizer, [SineTask(device) for _ in range(4)])
        if it % 3 == 0:
            print(f"iteration {it}: meta loss {loss:.3f}")


if __name__ == "__main__":
    main()
