from collections import OrderedDict

import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, features=6, hidden=96):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, window):
        return self.out(self.lstm(window)[0][:, -1]).squeeze(-1)


class WeightHistory:
    """Every epoch's weights with their validation error, so that any can be put back."""

    def __init__(self):
        self.weights = OrderedDict()
        self.errors = {}

    def record(self, epoch, module, error):
        self.weights[epoch] = {name: value.detach().cpu().clone() for name, value in module.state_dict().items()}
        self.errors[epoch] = error

    def rollback(self, module):
        best = min(self.errors, key=self.errors.get)
        module.load_state_dict(self.weights[best])
        return best


def sine_windows(n, length, device):
    t = torch.rand(n, 1) * 10 + torch.linspace(0, 2, length + 1)
    series = torch.stack([torch.sin(t * k) for k in range(1, 7)], dim=-1)
    return series[:, :-1].to(device), series[:, -1, 0].to(device)


def main(epochs=9):
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x, y = sine_windows(96, 12, device)
    x_val, y_val = sine_windows(32, 12, device)
    forecaster = Forecaster().to(device)
    adam = torch.optim.Adam(forecaster.parameters(), lr=5e-3)
    history = WeightHistory()
    for epoch in range(epochs):
        forecaster.train()
        adam.zero_grad(set_to_none=True)
        nn.functional.mse_loss(forecaster(x), y).backward()
        adam.step()
        forecaster.eval()
        with torch.no_grad():
            error = nn.functional.l1_loss(forecaster(x_val), y_val).item()
        history.record(epoch, forecaster, error)
    print("rolled back to epoch", history.rollback(forecaster))
    print("errors", [round(e, 4) for e in history.errors.values()])


if __name__ == "__main__":
    main()
