import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossBatchMemory(nn.Module):
    def __init__(self, dim, size=256, margin=0.5):
        super().__init__()
        self.size, self.margin = size, margin
        self.feats = torch.empty(0, dim)
        self.labels = torch.empty(0, dtype=torch.long)

    def enqueue(self, feats, labels):
        self.feats = torch.cat([self.feats.to(feats.device), feats])[-self.size:]
        self.labels = torch.cat([self.labels.to(labels.device), labels])[-self.size:]

    def forward(self, feats, labels):
        ref, ref_labels = self.feats.detach(), self.labels
        if len(ref) == 0:
            return feats.new_zeros(()) * feats.sum()
        sim = feats @ ref.to(feats.device).T
        same = labels[:, None] == ref_labels[None, :]
        positive = (1 - sim)[same].sum()
        negative = F.relu(sim - self.margin)[~same].sum()
        return (positive + negative) / len(feats)


class Embedder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(80, 160), nn.ReLU(), nn.Linear(160, 160), nn.ReLU(), nn.Linear(160, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def augment(x, drop=0.1):
    return x * (torch.rand_like(x) > drop)


def train(steps=40, batch=32, warmup=5):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, xbm = Embedder().to(device), CrossBatchMemory(32)
    proxies = nn.Parameter(torch.randn(12, 32, device=device))
    optimizer = torch.optim.Adam([*model.parameters(), proxies], lr=1e-3)
    for step in range(steps):
        x = torch.randn(batch, 80, device=device)
        y = torch.randint(0, 12, (batch,), device=device)
        feats = model(augment(x))
        loss = F.cross_entropy(10 * feats @ F.normalize(proxies, dim=1).T, y)
        if step >= warmup:
            loss = loss + 0.2 * xbm(feats, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            keys = model(augment(x))
        xbm.enqueue(keys, y)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f} memory {len(xbm.feats)}")


if __name__ == "__main__":
    train()
