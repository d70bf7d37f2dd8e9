import argparse
from collections import deque

import torch
import torch.nn as nn


class DepthNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ELU())
        self.decode = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(width, 1, 3, padding=1), nn.Softplus())

    def forward(self, image):
        return self.decode(self.encode(image))


def scale_invariant(depth, target):
    difference = depth.clamp_min(1e-3).log() - target.log()
    return difference.square().mean() - 0.5 * difference.mean().square()


def optimise(model, optimizer, image, target):
    depth = model(image)
    smooth = (depth[..., 1:] - depth[..., :-1]).abs().mean()
    loss = scale_invariant(depth, target) + 0.01 * smooth
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def absolute_relative(model, image, target):
    return ((model(image) - target).abs() / target).mean().item()


def scenes(count, device):
    for n in range(count):
        image = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(n)).to(device)
        yield image, 1 + 4 * image.mean(1, keepdim=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = DepthNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    recent = deque(maxlen=8)
    for step, (image, target) in enumerate(scenes(args.steps, device)):
        recent.append(optimise(model, optimizer, image, target))
        if step % 8 == 7:
            print(step, f"loss {sum(recent) / len(recent):.4f}")
    print("abs rel", round(absolute_relative(model, *next(iter(scenes(1, device)))), 4))


if __name__ == "__main__":
    main()
