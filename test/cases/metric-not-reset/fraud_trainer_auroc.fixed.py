from dataclasses import dataclass

import torch
from torch import nn

try:
    from torchmetrics.classification import BinaryAUROC
except ImportError:

    class BinaryAUROC:
        def __init__(self):
            self.preds, self.target = [], []

        def to(self, device):
            return self

        def update(self, preds, target):
            self.preds.append(preds)
            self.target.append(target)

        def compute(self):
            preds, target = torch.cat(self.preds), torch.cat(self.target)
            order = preds.argsort(descending=True)
            hits = target[order].float()
            below = hits.sum() - hits.cumsum(0)
            wrong = ((1 - hits) * below).sum()
            return 1 - wrong / (hits.sum() * (1 - hits).sum()).clamp_min(1)

        def reset(self):
            self.preds, self.target = [], []


@dataclass
class Config:
    epochs: int = 10
    batch_size: int = 128
    lr: float = 3e-3
    features: int = 20


class FraudTrainer:
    def __init__(self, config, device):
        self.config, self.device = config, device
        self.model = nn.Sequential(nn.Linear(config.features, 64), nn.GELU(), nn.Linear(64, 1)).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.auroc = BinaryAUROC().to(device)

    def _batches(self, x, y):
        for rows in torch.arange(len(x)).split(self.config.batch_size):
            yield x[rows].to(self.device), y[rows].to(self.device)

    def train_epoch(self, x, y):
        self.model.train()
        for xb, yb in self._batches(x, y):
            self.optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(self.model(xb).squeeze(1), yb.float()).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, x, y):
        self.model.eval()
        self.auroc.reset()
        for xb, yb in self._batches(x, y):
            self.auroc.update(self.model(xb).sigmoid().squeeze(1), yb)
        return self.auroc.compute().item()

    def fit(self, train, valid):
        best = 0.0
        for epoch in range(self.config.epochs):
            self.train_epoch(*train)
            score = self.validate(*valid)
            best = max(best, score)
            if epoch % 3 == 0:
                print(f"[{epoch:02d}] auroc {score:.4f}")
        return best


def transactions(rows, features):
    x = torch.randn(rows, features)
    return x, (x[:, :3].sum(1) + 0.5 * torch.randn(rows) > 1.5).long()


if __name__ == "__main__":
    torch.manual_seed(0)
    config = Config()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    best = FraudTrainer(config, device).fit(transactions(1024, config.features), transactions(512, config.features))
    print(f"best {best:.4f}")
