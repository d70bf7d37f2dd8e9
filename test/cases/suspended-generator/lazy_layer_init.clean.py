import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def forever(loader, device):
    while True:
        for batch in loader:
            yield [t.to(device) for t in batch]


class MixMatchRun:
    def __init__(self, device, dim=32, classes=4):
        self.device, self.classes = device, classes
        self.model = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, classes)).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    @torch.no_grad()
    def guess(self, x):
        p = self.model(x).softmax(1).square()
        return p / p.sum(1, keepdim=True)

    def step(self, labelled, unlabelled):
        x, y = labelled
        (u,) = unlabelled
        q = self.guess(u)
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss = loss + (self.model(u + 0.1 * torch.randn_like(u)).softmax(1) - q).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(iterations=30):
    torch.manual_seed(0)
    run = MixMatchRun(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    x = torch.randn(64, 32)
    labelled = forever(DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=16, shuffle=True), run.device)
    unlabelled = forever(DataLoader(TensorDataset(torch.randn(200, 32)), batch_size=32, shuffle=True), run.device)
    for i in range(iterations):
        loss = run.step(next(labelled), next(unlabelled))
        if i % 10 == 0:
            print(i, round(loss, 4))


if __name__ == "__main__":
    main()
