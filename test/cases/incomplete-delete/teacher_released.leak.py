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


def fit_teacher(net, optimizer, scheduler, batches):
    for ids in batches:
        optimizer.zero_grad(set_to_none=True)
        sequence_loss(net, ids).backward()
        optimizer.step()
        scheduler.step()


@torch.no_grad()
def relabel(net, batches):
    return [net(ids).argmax(dim=-1) for ids in batches]


def run(device):
    batches = [torch.randint(0, 160, (8, 12), device=device) for _ in range(6)]
    teacher = Translator(layers=3).to(device)
    teacher_opt = torch.optim.AdamW(teacher.parameters(), lr=1e-3)
    schedule = CosineAnnealingLR(teacher_opt, T_max=len(batches))
    fit_teacher(teacher, teacher_opt, schedule, batches)
    teacher.eval()
    labels = relabel(teacher, batches)
    teacher = None  # expect: incomplete-delete
    gc.collect()  # tolerated
    torch.cuda.empty_cache()  # tolerated

    student = Translator(width=32, layers=1).to(device)
    student_opt = torch.optim.AdamW(student.parameters(), lr=3e-3)
    losses = []
    for ids, target in zip(batches, labels):
        student_opt.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(student(ids).flatten(0, 1), target.flatten())
        loss.backward()
        student_opt.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(4)
    losses = run(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    print(f"student {losses[0]:.3f} -> {losses[-1]:.3f}")
