"""Optimise an input pattern for one unit of a fixed network: the input's small gradient is reused in place."""

import torch
import torch.nn as nn


def ascend(net, pattern, unit, rate, steps):
    values = []
    for _ in range(steps):
        score = net(pattern)[:, unit].sum() - 0.01 * pattern.pow(2).sum()
        score.backward()
        with torch.no_grad():
            pattern.add_(pattern.grad, alpha=rate)
        pattern.grad.zero_()
        values.append(score.item())
    return values


def strongest(net, units, device):
    found = {}
    for unit in units:
        pattern = torch.zeros(1, 128, device=device, requires_grad=True)
        values = ascend(net, pattern, unit, 0.5, 6)
        found[unit] = (values[-1], int(pattern.detach().abs().argmax()))
    return found


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Linear(128, 384), nn.Tanh(), nn.Linear(384, 8)).to(device).eval()
    net.requires_grad_(False)
    for unit, (score, index) in strongest(net, range(3), device).items():
        print(f"unit {unit}: score {score:.3f}, strongest input {index}")


if __name__ == "__main__":
    main()
