import torch
import torch.nn as nn


class SegmentRecurrentLM(nn.Module):
    """Attends over the current segment and the memory of the previous one."""

    def __init__(self, vocab=64, dim=32, layers=2, mem_len=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attn = nn.ModuleList([nn.MultiheadAttention(dim, 4, batch_first=True) for _ in range(layers)])
        self.ff = nn.ModuleList([nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU()) for _ in range(layers)])
        self.head = nn.Linear(dim, vocab)
        self.mem_len = mem_len

    def forward(self, tokens, mems=None):
        x = self.embed(tokens)
        hiddens = []
        for i, (attn, ff) in enumerate(zip(self.attn, self.ff)):
            hiddens.append(x)
            context = x if mems is None else torch.cat([mems[i], x], dim=1)
            x = x + attn(x, context, context, need_weights=False)[0]
            x = x + ff(x)
        return self.head(x), self._update_mems(hiddens)

    def _update_mems(self, hiddens):
        return [h[:, -self.mem_len:].detach().clone() for h in hiddens]


def train(model, stream, seg_len, device, lr=1e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    mems, total, count = None, 0.0, 0
    for begin in range(0, stream.size(1) - seg_len, seg_len):
        segment = stream[:, begin:begin + seg_len + 1].to(device)
        logits, mems = model(segment[:, :-1], mems)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), segment[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    return total / count


def dreaming_states(cell, steps, device):
    state = tuple(torch.zeros(4, cell.hidden_size, device=device) for _ in range(2))
    norms = []
    for _ in range(steps):
        state = cell(torch.randn(4, cell.input_size, device=device), state)
        state = tuple(s.detach() for s in state)
        norms.append(state[0].norm().item())
    return norms


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(train(SegmentRecurrentLM().to(dev), torch.randint(0, 64, (4, 16 * 20 + 1)), 16, dev))
    print(dreaming_states(nn.LSTMCell(8, 16).to(dev), 10, dev)[-1])
