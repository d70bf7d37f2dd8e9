"""Pooled sentence embeddings in several ways; rows are gathered, reduced or turned into numbers."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Decoder(nn.Module):
    def __init__(self, vocab=500, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, ids):
        return self.rnn(self.embed(ids))[0]


def gather_last(hidden, lengths):
    return hidden[torch.arange(len(hidden), device=hidden.device), lengths - 1]


def encode(model, padded, lengths):
    hidden = model(padded)
    mask = torch.arange(hidden.shape[1], device=hidden.device)[None, :, None] < lengths[:, None, None]
    first_norm = hidden[:, 0].norm(dim=1)
    return gather_last(hidden, lengths), (hidden * mask).sum(1) / lengths[:, None], hidden[:, [0]], first_norm.tolist()


def main(count=160, batch_size=16):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Decoder().to(device).eval()
    texts = [torch.randint(1, 500, (int(n),)) for n in torch.randint(8, 40, (count,))]
    last, mean, first, norms = [], [], [], []
    with torch.no_grad():
        for start in range(0, count, batch_size):
            group = texts[start : start + batch_size]
            lengths = torch.tensor([len(t) for t in group], device=device)
            at_end, average, at_start, sizes = encode(model, pad_sequence(group, batch_first=True).to(device), lengths)
            last.append(at_end)
            mean.append(average)
            first.append(at_start.squeeze(1))
            norms.extend(sizes)
    table = torch.cat(last)
    queries, rest = table[:8], table[8:]
    hits = (queries @ rest.T).topk(3).indices.tolist()
    drift = (torch.cat(mean) - torch.cat(first)).norm(dim=1).mean().item()
    print("query 0:", hits[0], "drift", round(drift, 4), "norm", round(sum(norms) / len(norms), 4))


if __name__ == "__main__":
    main()
