import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_net(inputs=40, hidden=200, classes=6):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, classes))


def run_epoch(net, average, optimizer, batches, device, decay):
    net.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
        with torch.no_grad():
            for kept, current in zip(average.parameters(), net.parameters()):
                kept.lerp_(current, 1.0 - decay)
            for kept, current in zip(average.buffers(), net.buffers()):
                kept.copy_(current)


@torch.no_grad()
def accuracy(net, batches, device):
    net.eval()
    good = sum((net(x.to(device)).argmax(1).cpu() == y).sum().item() for x, y in batches)
    return good / sum(len(y) for _, y in batches)


def main(epochs=10, decay=0.9):
    torch.manual_seed(5)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    centres = torch.randn(6, 40)
    labels = [torch.randint(0, 6, (32,)) for _ in range(8)]
    batches = [(centres[y] + torch.randn(32, 40), y) for y in labels]
    net = make_net().to(device)
    average = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    records, record = [], {"epoch": None, "accuracy": {}}
    for epoch in range(epochs):
        run_epoch(net, average, optimizer, batches[:6], device, decay)
        record["epoch"] = epoch
        record["accuracy"]["net"] = accuracy(net, batches[6:], device)
        record["accuracy"]["average"] = accuracy(average, batches[6:], device)
        records.append(copy.deepcopy(record))
    for r in records:
        print(r["epoch"], r["accuracy"])


if __name__ == "__main__":
    main()
