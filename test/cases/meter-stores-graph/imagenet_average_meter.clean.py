import torch
import torch.nn as nn


class RunningAverage:
    def __init__(self):
        self.steps = 0
        self.total = 0.0

    def update(self, value):
        value = float(value.detach())
        self.total += value
        self.steps += 1

    def __call__(self):
        return self.total / max(self.steps, 1)


class Ratio:
    def __init__(self):
        self.reset()

    def reset(self):
        self.hit, self.seen = None, 0

    def update(self, hit, seen):
        self.hit = hit if self.hit is None else self.hit + hit
        self.seen += seen

    def compute(self):
        return self.hit.item() / self.seen


def train(model, optimizer, loss_fn, batches, device):
    model.train()
    loss_avg, acc = RunningAverage(), Ratio()
    for words, tags in batches:
        words, tags = words.to(device), tags.to(device)
        logits = model(words)
        loss = loss_fn(logits.flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_avg.update(loss)
        acc.update((logits.argmax(-1) == tags).sum(), tags.numel())
    return loss_avg(), acc.compute()


class Tagger(nn.Module):
    def __init__(self, vocab=120, dim=24, tags=7):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * dim, tags)

    def forward(self, words):
        return self.fc(self.lstm(self.embedding(words))[0])


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Tagger().to(dev)
    adam = torch.optim.Adam(net.parameters(), lr=1e-2)
    data = [(w, w % 7) for w in (torch.randint(0, 120, (8, 12)) for _ in range(30))]
    for epoch in range(2):
        print("epoch %d loss %.3f acc %.3f" % (epoch, *train(net, adam, nn.CrossEntropyLoss(), data, dev)))
