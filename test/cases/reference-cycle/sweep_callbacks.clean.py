import itertools
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F


class Callback:
    trainer = None

    def after_epoch(self, loss):
        pass


class History(Callback):
    def __init__(self):
        self.losses = []

    def after_epoch(self, loss):
        self.losses.append(loss)


class EarlyStopping(Callback):
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def after_epoch(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        if self.bad >= self.patience:
            self.trainer.stop = True


class Trainer:
    def __init__(self, width, lr, device, callbacks):
        self.device, self.callbacks, self.stop = device, callbacks, False
        self.model = nn.Sequential(nn.Linear(40, width), nn.ReLU(), nn.Linear(width, 3)).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        for callback in callbacks:
            callback.trainer = weakref.proxy(self)

    def fit(self, x, y, max_epochs):
        for _ in range(max_epochs):
            total = 0.0
            for rows in torch.arange(len(x), device=self.device).split(64):
                self.optimizer.zero_grad(set_to_none=True)
                loss = F.cross_entropy(self.model(x[rows]), y[rows])
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            for callback in self.callbacks:
                callback.after_epoch(total)
            if self.stop:
                break


class Experiment:
    """One for the whole program; its report and itself refer to each other."""

    def __init__(self, device):
        self.device = device
        self.data = torch.randn(256, 40, device=device)
        self.report = Report(self)

    def run(self, width, lr):
        history = History()
        Trainer(width, lr, self.device, [history, EarlyStopping(2)]).fit(self.data, self.data[:, :3].argmax(1), 3)
        return min(history.losses)


class Report:
    def __init__(self, experiment):
        self.experiment = experiment
        self.lines = []

    def add(self, width, lr, loss):
        self.lines.append(f"{width:4d} {lr:.0e} {loss:.4f} on {len(self.experiment.data)} rows")


def main():
    torch.manual_seed(0)
    experiment = Experiment(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for width, lr in itertools.product((64, 128), (1e-3, 1e-2)):
        experiment.report.add(width, lr, experiment.run(width, lr))
    print("\n".join(experiment.report.lines))


if __name__ == "__main__":
    main()
