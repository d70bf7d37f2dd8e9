import random

import torch
import torch.nn as nn
import torch.nn.functional as F

_ANCHORS = {}


def anchors_for(height, width, stride, device):
    key = (height, width, stride, str(device))
    if key not in _ANCHORS:
        ys, xs = torch.meshgrid(
            torch.arange(0, height, stride, device=device, dtype=torch.float32),
            torch.arange(0, width, stride, device=device, dtype=torch.float32),
            indexing="ij",
        )
        sizes = torch.tensor([16.0, 32.0, 64.0], device=device)
        centres = torch.stack([xs, ys], -1).view(-1, 1, 2)
        boxes = torch.cat([centres - sizes.view(1, -1, 1) / 2, centres + sizes.view(1, -1, 1) / 2], -1)
        _ANCHORS[key] = boxes.view(-1, 4)  # expect: unbounded-cache
    return _ANCHORS[key]


class RPN(nn.Module):
    def __init__(self, stride=4):
        super().__init__()
        self.stride = stride
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 4, stride=stride), nn.ReLU())
        self.delta = nn.Conv2d(16, 12, 1)

    def forward(self, images):
        features = self.backbone(images)
        h, w = features.shape[-2] * self.stride, features.shape[-1] * self.stride
        anchors = anchors_for(h, w, self.stride, images.device)
        deltas = self.delta(features).permute(0, 2, 3, 1).reshape(len(images), -1, 4)
        return anchors + deltas * 8


def random_crop(batch, low=64, high=160):
    top, left = random.randint(0, 15), random.randint(0, 15)
    height, width = random.randint(low, high), random.randint(low, high)
    return batch[:, :, top : top + height, left : left + width]


def step(model, optimizer, images):
    boxes = model(random_crop(images))
    target = torch.tensor([20.0, 20.0, 60.0, 60.0], device=images.device)
    loss = F.smooth_l1_loss(boxes, target.expand_as(boxes))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=30):
    random.seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = RPN().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for i in range(steps):
        loss = step(model, optimizer, torch.rand(2, 3, 176, 176, device=device))
        if i % 10 == 0:
            print(f"{i:>3} {loss:.4f}")


if __name__ == "__main__":
    main()
