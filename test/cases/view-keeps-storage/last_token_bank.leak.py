"""Sentence embeddings of a causal model: the state of the last real token, by document id."""

from typing import Iterator

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence


class Decoder(nn.Module):
    def __init__(self, vocab: int = 500, dim: int = 96):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, num_layers=2, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids: Tensor) -> Tensor:
        return self.norm(self.rnn(self.embed(ids))[0])


def documents(count: int) -> list[tuple[str, Tensor]]:
    lengths = torch.randint(10, 40, (count,)).tolist()
    return [(f"doc-{n:04d}", torch.randint(1, 500, (length,))) for n, length in enumerate(lengths)]


def batched(items: list, size: int) -> Iterator[list]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@torch.inference_mode()
def build_bank(model: nn.Module, docs: list[tuple[str, Tensor]], device: torch.device) -> dict[str, Tensor]:
    model.eval()
    bank: dict[str, Tensor] = {}
    for group in batched(docs, 16):
        keys, texts = zip(*group)
        padded = pad_sequence(texts, batch_first=True).to(device)
        hidden = model(padded)
        for row, key in enumerate(keys):
            bank[key] = hidden[row, len(texts[row]) - 1]  # expect: view-keeps-storage
        del hidden, padded
    return bank


def closest(bank: dict[str, Tensor], key: str, k: int = 3) -> list[str]:
    names = [name for name in bank if name != key]
    scores = torch.stack([torch.dot(bank[key], bank[name]) for name in names])
    return [names[i] for i in scores.topk(k).indices.tolist()]


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    bank = build_bank(Decoder().to(device), documents(240), device)
    print(len(bank), "documents; near doc-0003:", closest(bank, "doc-0003"))


if __name__ == "__main__":
    main()
