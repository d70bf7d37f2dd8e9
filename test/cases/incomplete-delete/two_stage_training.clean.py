import torch
import torch.nn as nn
import torch.nn.functional as F


class Probe(nn.Module):
    def __init__(self, encoder, dim, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


def encoder_net(dim=64, hidden=256):
    return nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU())


def train_epoch(model, optimizer, x, y):
    total = 0.0
    for xb, yb in zip(x.split(32), y.split(32)):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(2)
    x = torch.randn(256, 64, device=device)
    y = (x[:, :4].sum(1) > 0).long()

    encoder = encoder_net()
    model = Probe(encoder, 256, 2).to(device)
    del encoder
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        print(f"epoch {epoch} loss {train_epoch(model, optimizer, x, y):.4f}")
    print("parameters", sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
