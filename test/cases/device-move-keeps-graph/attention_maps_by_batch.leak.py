import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        weights = torch.softmax(self.q(x) @ self.k(x).transpose(1, 2) / 6, dim=-1)
        return self.out((weights @ self.v(x)).mean(1)), weights


def run_epoch(model, loader, optimizer, device):
    maps = {}
    for idx, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        logits, weights = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        maps[idx] = weights.cpu()  # expect: device-move-keeps-graph
    return maps


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Attention().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = [(torch.randn(8, 20, 32), torch.randint(0, 2, (8,))) for _ in range(10)]
    maps = run_epoch(model, loader, optimizer, device)
    print(len(maps), max(m.max().item() for m in maps.values()))


if __name__ == "__main__":
    main()
