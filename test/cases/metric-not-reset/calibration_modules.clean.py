import torch
import torch.nn as nn
import torch.nn.functional as F


class CalibrationError(nn.Module):
    """Expected calibration error from counts per bin."""

    def __init__(self, bins=10):
        super().__init__()
        self.bins = bins
        for name in ("count", "confidence", "hits"):
            self.register_buffer(name, torch.zeros(bins), persistent=False)

    @torch.no_grad()
    def forward(self, probs, labels):
        confidence, winner = probs.max(dim=1)
        where = (confidence * self.bins).long().clamp_max(self.bins - 1)
        self.count.index_add_(0, where, torch.ones_like(confidence))
        self.confidence.index_add_(0, where, confidence)
        self.hits.index_add_(0, where, (winner == labels).float())

    def result(self):
        gap = (self.confidence - self.hits).abs().sum() / self.count.sum().clamp_min(1)
        return gap.item()


class WorstCases:
    """The scores of one pass over the split; the next pass begins with an empty list."""

    def __init__(self, keep):
        self.keep = keep
        self.scores = []

    def add(self, probs, labels):
        self.scores.append(probs.gather(1, labels[:, None]).squeeze(1))

    def pop(self):
        scores, self.scores = torch.cat(self.scores), []
        return scores.topk(self.keep, largest=False).values.tolist()


def draw(rows, classes=6):
    y = torch.randint(0, classes, (rows,))
    return torch.randn(rows, 30) + F.one_hot(y, 30) * 1.5, y


def run(rounds, device):
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 6)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    valid = [draw(256) for _ in range(4)]
    ece, worst = CalibrationError().to(device), WorstCases(3)
    for number in range(rounds):
        model.train()
        for x, y in (draw(64) for _ in range(10)):
            optimizer.zero_grad()
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.inference_mode():
            for x, y in valid:
                probs, labels = model(x.to(device)).softmax(1), y.to(device)
                ece(probs, labels)
                worst.add(probs, labels)
        lowest = worst.pop()
        if number % 4 == 3:
            print(number, f"ece so far {ece.result():.4f}", [round(v, 3) for v in lowest])


if __name__ == "__main__":
    torch.manual_seed(0)
    run(12, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
