import numpy as np
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, n_series, hidden=40):
        super().__init__()
        self.gru = nn.GRU(n_series, hidden, num_layers=2)
        self.readout = nn.Linear(hidden, n_series)

    def forward(self, window, state=None):
        out, state = self.gru(window, state)
        return self.readout(out), state


class StatefulTrainer:
    def __init__(self, model, lr=1e-2, clip=1.0):
        self.model = model
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.HuberLoss()
        self.clip = clip
        self.state = None

    def reset_state(self):
        self.state = None

    def fit_sequence(self, series, window):
        self.reset_state()
        self.optim.zero_grad()
        losses = []
        for start in range(0, len(series) - window, window):
            x, y = series[start:start + window], series[start + 1:start + window + 1]
            if self.state is not None:
                self.state = self.state.detach()
            pred, self.state = self.model(x, self.state)
            loss = self.loss_fn(pred, y)
            loss.backward()
            losses.append(loss.item())
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optim.step()
        return float(np.mean(losses))


def sine_mix(length, n_series, device):
    t = torch.arange(length, device=device).unsqueeze(1) / 10
    phase = torch.rand(n_series, device=device) * 6
    return torch.sin(t + phase).unsqueeze(1) + 0.05 * torch.randn(length, 1, n_series, device=device)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = StatefulTrainer(Forecaster(6).to(device))
    for epoch in range(1):
        loss = trainer.fit_sequence(sine_mix(151, 6, device), window=10)
        print(f"epoch {epoch} loss {loss:.4f}")


if __name__ == "__main__":
    main()
