import torch
from torch import nn
from torch.nn.functional import mse_loss


class Operator(nn.Module):
    """A small Fourier-free neural operator on a grid of points."""

    def __init__(self, points=64, width=256):
        super().__init__()
        self.lift, self.project = nn.Linear(points, width), nn.Linear(width, points)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, field):
        h = self.lift(field)
        for layer in self.layers:
            h = h + torch.tanh(layer(h))
        return self.project(h)


class MixedPrecisionTrainer:
    def __init__(self, model, device, lr=1e-3):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
        self.amp_dtype = torch.float16 if device.type == "cuda" else torch.bfloat16

    def step(self, field, solution):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.amp.autocast(self.device.type, dtype=self.amp_dtype):
            loss = mse_loss(self.model(field), solution)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()

    def fit(self, batches, epochs):
        history = []
        for _ in range(epochs):
            losses = [self.step(field.to(self.device), solution.to(self.device)) for field, solution in batches]
            history.append(sum(losses) / len(losses))
        return history


def make_batches(count, size=8, points=64):
    grid = torch.linspace(0, 1, points)
    for _ in range(count):
        frequency = torch.randint(1, 5, (size, 1))
        yield torch.sin(6.28 * frequency * grid), torch.cos(6.28 * frequency * grid) / frequency


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    history = MixedPrecisionTrainer(Operator(), device).fit(list(make_batches(5)), epochs=3)
    print("loss per epoch", [round(value, 4) for value in history])
