import torch
import torch.nn as nn
import torch.nn.functional as F


class ExponentialMovingAverage:
    """Keeps smoothed weights next to the trained ones and swaps them in for evaluation."""

    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.backup = {}

    def update(self, model):
        for name, param in model.named_parameters():
            if param.requires_grad:
                new_average = (1.0 - self.decay) * param + self.decay * self.shadow[name]  # also: average-keeps-graph
                self.shadow[name] = new_average  # expect: average-keeps-graph

    @torch.no_grad()
    def apply(self, model):
        for name, param in model.named_parameters():
            self.backup[name] = param.detach().cpu().clone()
            param.copy_(self.shadow[name])

    @torch.no_grad()
    def restore(self, model):
        for name, param in model.named_parameters():
            param.copy_(self.backup[name])
        self.backup.clear()


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2)
        self.fc = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.fc(x.flatten(1))


@torch.no_grad()
def validate(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def train_epoch(model, ema, optimizer, loader, device):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SmallNet().to(device)
    ema = ExponentialMovingAverage(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = [(torch.randn(16, 1, 20, 20), torch.randint(0, 10, (16,))) for _ in range(40)]
    x, y = torch.randn(64, 1, 20, 20, device=device), torch.randint(0, 10, (64,), device=device)
    for epoch in range(1):
        train_epoch(model, ema, optimizer, loader, device)
        ema.apply(model)
        print(f"epoch {epoch} ema accuracy {validate(model, x, y):.3f}")
        ema.restore(model)


if __name__ == "__main__":
    main()
