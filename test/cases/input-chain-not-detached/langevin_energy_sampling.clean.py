import torch
from torch import nn


class UnrolledReconstruction(nn.Module):
    """Gradient steps on the data term with a learnt correction after each."""

    def __init__(self, n=48, m=24, iterations=6):
        super().__init__()
        self.register_buffer("A", torch.randn(m, n) / m ** 0.5)
        self.step = nn.Parameter(torch.full((iterations,), 0.1))
        self.prox = nn.ModuleList([nn.Sequential(nn.Linear(n, n), nn.ReLU(), nn.Linear(n, n)) for _ in range(iterations)])

    def forward(self, y):
        x = y @ self.A
        for step, prox in zip(self.step, self.prox):
            x = x - step * (x @ self.A.T - y) @ self.A
            x = x + prox(x)
        return x


def adapt(weights, x, y, lr=0.1, inner_steps=3):
    for _ in range(inner_steps):
        pred = torch.tanh(x @ weights[0]) @ weights[1]
        grads = torch.autograd.grad((pred - y).pow(2).mean(), weights, create_graph=True)
        weights = [w - lr * g for w, g in zip(weights, grads)]
    return weights


def meta_train(device, steps=15):
    meta = [nn.Parameter(0.3 * torch.randn(4, 32, device=device)), nn.Parameter(0.3 * torch.randn(32, 1, device=device))]
    optimizer = torch.optim.Adam(meta, lr=1e-3)
    for _ in range(steps):
        x = torch.randn(2, 20, 4, device=device)
        y = x.sum(-1, keepdim=True) * torch.rand(1, device=device)
        fast = adapt(meta, x[0], y[0])
        outer = (torch.tanh(x[1] @ fast[0]) @ fast[1] - y[1]).pow(2).mean()
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
    return outer.item()


def train_unrolled(device, steps=20):
    net = UnrolledReconstruction().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(steps):
        signal = torch.randn(32, 48, device=device) * (torch.rand(32, 48, device=device) < 0.2)
        loss = (net(signal @ net.A.T) - signal).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("meta", meta_train(dev))
    print("unrolled", train_unrolled(dev))
