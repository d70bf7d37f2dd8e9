from typing import Iterable, List

import torch
import torch.nn as nn


def chunked(n: int, size: int) -> Iterable[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


class CrossEncoder(nn.Module):
    def __init__(self, vocab: int = 300, dim: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.score = nn.Linear(dim, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.encoder(self.embedding(tokens))
        return self.score(hidden.mean(dim=1)).squeeze(-1)


class Reranker:
    def __init__(self, model: CrossEncoder, device: torch.device, batch_size: int = 16):
        self.model = model.to(device)
        self.device = device
        self.batch_size = batch_size

    def _pairs(self, query: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
        return torch.cat([query.expand(len(passages), -1), passages], dim=1)

    def rank(self, query: torch.Tensor, passages: torch.Tensor, top_k: int = 5) -> List[int]:
        self.model.eval()
        scores = []
        for piece in chunked(len(passages), self.batch_size):
            batch = self._pairs(query, passages[piece]).to(self.device)
            logits = self.model(batch)  # also: inference-with-grad
            scores.append(torch.sigmoid(logits))  # expect: inference-with-grad
        ranking = torch.cat(scores).argsort(descending=True)
        return ranking[:top_k].tolist()


def main() -> None:
    torch.manual_seed(11)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    reranker = Reranker(CrossEncoder(), device)
    passages = torch.randint(1, 300, (400, 20))
    for q in range(2):
        query = torch.randint(1, 300, (1, 6))
        print(f"query {q}: {reranker.rank(query, passages)}")


if __name__ == "__main__":
    main()
