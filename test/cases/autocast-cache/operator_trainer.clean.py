import torch
from torch import nn
from torch.nn.functional import mse_loss


class Operator(nn.Module):
    def __init__(self, points=64, width=128):
        super().__init__()
        self.lift, self.project = nn.Linear(points, width), nn.Linear(width, points)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    @torch.autocast("cuda" if torch.cuda.is_available() else "cpu", dtype=torch.bfloat16)
    def forward(self, field):
        h = self.lift(field)
        for layer in self.layers:
            h = h + torch.tanh(layer(h))
        return self.project(h).float()


class Trainer:
    def __init__(self, model, device, lr=1e-3):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def step(self, field, solution):
        self.optimizer.zero_grad(set_to_none=True)
        loss = mse_loss(self.model(field), solution)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, batches, epochs):
        return [sum(self.step(f.to(self.device), s.to(self.device)) for f, s in batches) for _ in range(epochs)]

    def fit_without_cache(self, batches, epochs):
        """One region around everything, which keeps no casts."""
        total = 0.0
        with torch.autocast(self.device.type, dtype=torch.bfloat16, cache_enabled=False):
            for _ in range(epochs):
                for field, solution in batches:
                    total += self.step(field.to(self.device), solution.to(self.device))
        return total


def make_batches(count, size=8, points=64):
    grid = torch.linspace(0, 1, points)
    for _ in range(count):
        frequency = torch.randint(1, 5, (size, 1))
        yield torch.sin(6.28 * frequency * grid), torch.cos(6.28 * frequency * grid) / frequency


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer(Operator(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    batches = list(make_batches(5))
    print("loss per epoch", [round(value, 4) for value in trainer.fit(batches, 3)])
    print("then", round(trainer.fit_without_cache(batches, 1), 4))
