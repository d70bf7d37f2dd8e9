import torch
from torch import nn


class RunningNorm(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.momentum, self.eps = momentum, eps

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
            self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var.detach()
        else:
            mean, var = self.running_mean, self.running_var
        return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class Regressor(nn.Module):
    def __init__(self, d=16, h=64):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(d, h), RunningNorm(h), nn.Linear(h, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.norm(self.fc1(x)))).squeeze(-1)


def run_epoch(model, data, device, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in data:
            x, y = x.to(device), y.to(device)
            loss = nn.functional.mse_loss(model(x), y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(data)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Regressor().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    inputs = [torch.randn(64, 16) for _ in range(40)]
    train = [(x, x[:, 0] * x[:, 1]) for x in inputs[:32]]
    valid = [(x, x[:, 0] * x[:, 1]) for x in inputs[32:]]
    for epoch in range(2):
        print(epoch, run_epoch(model, train, device, optimizer), run_epoch(model, valid, device))


if __name__ == "__main__":
    main()
