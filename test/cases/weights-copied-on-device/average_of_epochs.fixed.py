import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_net(inputs=40, hidden=200, classes=6):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, classes))


def run_epoch(net, optimizer, batches, device):
    net.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()


@torch.no_grad()
def accuracy(net, batches, device):
    net.eval()
    good = sum((net(x.to(device)).argmax(1).cpu() == y).sum().item() for x, y in batches)
    return good / sum(len(y) for _, y in batches)


def average(states):
    mean = {}
    for key, first in states[0].items():
        if first.is_floating_point():
            mean[key] = torch.stack([s[key] for s in states]).mean(0)
        else:
            mean[key] = states[-1][key]
    return mean


def main(epochs=10, last=4):
    torch.manual_seed(5)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    centres = torch.randn(6, 40)
    labels = [torch.randint(0, 6, (32,)) for _ in range(8)]
    batches = [(centres[y] + torch.randn(32, 40), y) for y in labels]
    net = make_net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    snapshots = []
    for epoch in range(epochs):
        run_epoch(net, optimizer, batches[:6], device)
        snapshots.append({k: v.detach().cpu().clone() for k, v in net.state_dict().items()})
        print(f"epoch {epoch} accuracy {accuracy(net, batches[6:], device):.3f}")
    net.load_state_dict(average(snapshots[-last:]))
    print(f"average of {last}: {accuracy(net, batches[6:], device):.3f}")


if __name__ == "__main__":
    main()
