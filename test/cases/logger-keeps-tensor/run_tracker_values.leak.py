import torch
import torch.nn as nn


class RunTracker:
    def __init__(self):
        self.rows = []

    def log(self, step, **values):
        self.rows.append({"step": step, **values})

    def last(self, key):
        return self.rows[-1][key]


def train(model, tracker, device, steps=30):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        inputs = torch.randn(64, 24, device=device)
        labels = torch.randint(0, 100, (64,), device=device)
        logits = model(inputs)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tracker.log(step, loss=loss.item(), probs=logits.softmax(-1))  # expect: logger-keeps-tensor
        if step % 10 == 0:
            print(step, tracker.last("loss"))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 100)).to(device)
    tracker = RunTracker()
    train(model, tracker, device)
    print(len(tracker.rows), "rows")


if __name__ == "__main__":
    main()
