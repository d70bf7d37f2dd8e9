import torch
from torch import nn

try:
    from torchmetrics.classification import BinaryAUROC
except ImportError:

    class BinaryAUROC:
        def __init__(self):
            self.reset()

        def to(self, device):
            return self

        def update(self, preds, target):
            self.preds.append(preds)
            self.target.append(target)

        def compute(self):
            preds, target = torch.cat(self.preds), torch.cat(self.target)
            hits = target[preds.argsort(descending=True)].float()
            wrong = ((1 - hits) * (hits.sum() - hits.cumsum(0))).sum()
            return 1 - wrong / (hits.sum() * (1 - hits).sum()).clamp_min(1)

        def reset(self):
            self.preds, self.target = [], []


class MetricCallback:
    """Calls come from the trainer's loop: begin, one per batch, end."""

    def __init__(self, device):
        self.auroc = BinaryAUROC().to(device)
        self.history = []

    def on_validation_start(self):
        self.auroc.reset()

    def on_validation_batch_end(self, scores, target):
        self.auroc.update(scores, target)

    def on_validation_end(self):
        self.history.append(self.auroc.compute().item())


class Trainer:
    def __init__(self, features, device, callbacks):
        self.device, self.callbacks = device, callbacks
        self.model = nn.Sequential(nn.Linear(features, 64), nn.GELU(), nn.Linear(64, 1)).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def call(self, event, *values):
        for callback in self.callbacks:
            getattr(callback, event)(*values)

    def train_epoch(self, x, y):
        for rows in torch.arange(len(x)).split(128):
            self.optimizer.zero_grad()
            logits = self.model(x[rows].to(self.device)).squeeze(1)
            nn.functional.binary_cross_entropy_with_logits(logits, y[rows].float().to(self.device)).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, x, y):
        self.call("on_validation_start")
        for rows in torch.arange(len(x)).split(128):
            scores = self.model(x[rows].to(self.device)).sigmoid().squeeze(1)
            self.call("on_validation_batch_end", scores, y[rows].to(self.device))
        self.call("on_validation_end")


def transactions(rows, features=20):
    x = torch.randn(rows, features)
    return x, (x[:, :3].sum(1) + 0.5 * torch.randn(rows) > 1.5).long()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    metrics = MetricCallback(device)
    trainer = Trainer(20, device, [metrics])
    train, valid, test = transactions(1024), transactions(512), transactions(512)
    for _ in range(8):
        trainer.train_epoch(*train)
        trainer.validate(*valid)
    final = BinaryAUROC().to(device)
    with torch.no_grad():
        for rows in torch.arange(512).split(128):
            final.update(trainer.model(test[0][rows].to(device)).sigmoid().squeeze(1), test[1][rows].to(device))
    print([round(v, 3) for v in metrics.history], "test", round(final.compute().item(), 4))


if __name__ == "__main__":
    main()
