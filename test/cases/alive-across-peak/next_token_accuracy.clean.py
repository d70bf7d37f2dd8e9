from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    vocab: int = 2000
    width: int = 32
    length: int = 64
    batch: int = 4
    classes: int = 3
    steps: int = 10
    lr: float = 3e-3


class TextClassifier(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        self.rnn = nn.GRU(cfg.width, cfg.width, batch_first=True)
        self.head = nn.Linear(cfg.width, cfg.classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states, _ = self.rnn(self.embed(ids))
        return self.head(states.mean(dim=1))


class Finetuner:
    def __init__(self, cfg: Config, device: torch.device):
        self.cfg = cfg
        self.device = device
        self.net = TextClassifier(cfg).to(device)
        self.optim = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr)
        self.criterion = nn.CrossEntropyLoss()
        self.curve: list[float] = []

    def sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.randint(0, self.cfg.vocab, (self.cfg.batch, self.cfg.length), device=self.device)
        return ids, torch.randint(0, self.cfg.classes, (self.cfg.batch,), device=self.device)

    def fit(self) -> list[float]:
        self.net.train()
        for step in range(self.cfg.steps):
            ids, labels = self.sample()
            logits = self.net(ids)
            loss = self.criterion(logits, labels)
            loss.backward()
            self.optim.step()
            self.optim.zero_grad(set_to_none=True)
            self.curve.append(loss.item())
            if step % 5 == 0:
                print(f"step {step} loss {self.curve[-1]:.3f}")
        return self.curve


if __name__ == "__main__":
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    curve = Finetuner(Config(), device).fit()
    print("mean", round(sum(curve) / len(curve), 3))
