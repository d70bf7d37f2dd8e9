from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    vocab: int = 3000
    width: int = 32
    length: int = 64
    batch: int = 4
    batches: int = 10


class TinyLM(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        self.rnn = nn.GRU(cfg.width, cfg.width, batch_first=True)
        self.head = nn.Linear(cfg.width, cfg.vocab)

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        states, _ = self.rnn(self.embed(ids))
        return {"logits": self.head(states), "states": states}


class Evaluator:
    def __init__(self, cfg: Config, device: torch.device):
        self.cfg = cfg
        self.device = device
        self.lm = TinyLM(cfg).to(device).eval()
        self.hits, self.seen = 0, 0

    def sample(self) -> torch.Tensor:
        shape = (self.cfg.batch, self.cfg.length + 1)
        return torch.randint(0, self.cfg.vocab, shape, device=self.device)

    @torch.no_grad()
    def run(self) -> float:
        step = 0
        while step < self.cfg.batches:
            tokens = self.sample()
            outputs = self.lm(tokens[:, :-1])  # expect: alive-across-peak
            guess = outputs["logits"].argmax(dim=-1)
            self.hits += (guess == tokens[:, 1:]).sum().item()
            self.seen += guess.numel()
            step += 1  # also: alive-across-peak
        return self.hits / self.seen


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    evaluator = Evaluator(Config(), device)
    accuracy = evaluator.run()
    print("tokens", evaluator.seen)
    print(f"next-token accuracy {accuracy:.5f}")


if __name__ == "__main__":
    main()
