import gc

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


class Translator(nn.Module):
    def __init__(self, vocab=160, width=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)))


def sequence_loss(net, ids):
    return nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def train(net, lr, batches):
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr)
    schedule = CosineAnnealingLR(optimizer, T_max=len(batches))
    losses = []
    for ids in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = sequence_loss(net, ids)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    net.zero_grad(set_to_none=True)
    return losses


@torch.no_grad()
def relabel(net, batches):
    net.eval()
    return [net(ids).argmax(dim=-1) for ids in batches]


def run(device):
    batches = [torch.randint(0, 160, (8, 12), device=device) for _ in range(6)]
    teacher = Translator(layers=3).to(device)
    train(teacher, 1e-3, batches)
    labels = relabel(teacher, batches)
    del teacher
    gc.collect()
    torch.cuda.empty_cache()

    student = Translator(width=32, layers=1).to(device)
    return train(student, 3e-3, labels)


if __name__ == "__main__":
    torch.manual_seed(4)
    losses = run(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    print(f"student {losses[0]:.3f} -> {losses[-1]:.3f}")
