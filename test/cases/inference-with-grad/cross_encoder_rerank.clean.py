import torch
import torch.nn as nn


class Matcher(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 32))
        self.right = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, a, b):
        return nn.functional.cosine_similarity(self.left(a), self.right(b), dim=-1)


def predict(model, pairs, device):
    scores = []
    for a, b in pairs:
        scores.append(model(a.to(device), b.to(device)))
    return torch.cat(scores)


def accuracy(model, pairs, labels, device):
    return ((predict(model, pairs, device) > 0) == labels.to(device)).float().mean().item()


def train(model, pairs, labels, device, lr=1e-2):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    model.train()
    for (a, b), y in zip(pairs, labels.split(32)):
        score = model(a.to(device), b.to(device))
        loss = nn.functional.mse_loss(score, y.to(device).float() * 2 - 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(epochs=2):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Matcher().to(device)
    pairs = [(torch.randn(32, 24), torch.randn(32, 24)) for _ in range(20)]
    labels = torch.cat([(a[:, 0] * b[:, 0] > 0) for a, b in pairs])
    for epoch in range(epochs):
        train(model, pairs, labels, device)
        model.eval()
        with torch.no_grad():
            value = accuracy(model, pairs, labels, device)
        print(f"epoch {epoch} accuracy {value:.3f}")


if __name__ == "__main__":
    main()
