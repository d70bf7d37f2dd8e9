import numpy as np
import torch
import torch.nn as nn


class TextCNN(nn.Module):
    def __init__(self, vocab=150, dim=24, classes=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, 16, k) for k in (3, 4, 5)])
        self.fc = nn.Linear(48, classes)

    def forward(self, ids):
        x = self.emb(ids).transpose(1, 2)
        return self.fc(torch.cat([conv(x).relu().amax(-1) for conv in self.convs], dim=1))


class Collector:
    def __init__(self):
        self.preds, self.probs, self.gold = [], [], []

    def add(self, logits, labels):
        self.preds.append(logits.argmax(dim=-1).cpu())
        self.probs.append(logits.detach().softmax(-1).cpu().numpy())
        self.gold.append(labels.cpu())

    def macro_f1(self):
        pred, gold = torch.cat(self.preds), torch.cat(self.gold)
        scores = []
        for c in gold.unique().tolist():
            tp = ((pred == c) & (gold == c)).sum().item()
            fp, fn = ((pred == c) & (gold != c)).sum().item(), ((pred != c) & (gold == c)).sum().item()
            scores.append(2 * tp / max(2 * tp + fp + fn, 1))
        return float(np.mean(scores))


def train_epoch(model, optimizer, batches, device):
    collector = Collector()
    model.train()
    for ids, labels in batches:
        ids, labels = ids.to(device), labels.to(device)
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits, labels)
        collector.add(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return collector


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = TextCNN().to(dev)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    data = [(torch.randint(0, 150, (16, 20)), torch.randint(0, 4, (16,))) for _ in range(25)]
    for epoch in range(2):
        result = train_epoch(net, opt, data, dev)
        print(epoch, f"f1 {result.macro_f1():.3f}", np.concatenate(result.probs).max(1).mean())
