import torch
import torch.nn as nn


class FeatureWhitener(nn.Module):
    def __init__(self, dim, rate=0.05):
        super().__init__()
        self.rate = rate
        self.mean = torch.zeros(dim)
        self.steps = 0

    def forward(self, feats):
        batch_mean = feats.flatten(0, 1).mean(dim=0)
        old = self.mean.to(feats.device)
        updated = old + self.rate * (batch_mean - old)
        self.mean = updated  # expect: average-keeps-graph
        self.steps += 1
        return feats - updated.detach()


class Classifier(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(60, dim)
        self.mix = nn.Linear(dim, dim)
        self.white = FeatureWhitener(dim)
        self.head = nn.Linear(dim, 3)

    def forward(self, ids):
        h = torch.tanh(self.mix(self.embed(ids)))
        return self.head(self.white(h).mean(1))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Classifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(30):
        ids = torch.randint(0, 60, (16, 12), device=device)
        labels = ids[:, 0] % 3
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
