import argparse

import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())
        self.stage = nn.Sequential(nn.Conv2d(width, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())

    def forward(self, x):
        return self.stage(self.stem(x)).mean((2, 3))


def extract(backbone, images, batch_size):
    features = []
    for x in images.split(batch_size):
        features.append(backbone(x).cpu())
    return torch.cat(features)


def linear_probe(features, labels, device, steps=30):
    head = nn.Linear(features.size(1), 5).to(device)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.5)
    for _ in range(steps):
        pick = torch.randint(0, len(features), (64,))
        loss = nn.functional.cross_entropy(head(features[pick].to(device)), labels[pick].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser("linear probing")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--images", type=int, default=512)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    backbone = Backbone().to(device).eval()
    for p in backbone.parameters():
        p.requires_grad_(False)
    images = torch.randn(args.images, 3, 24, 24, device=device)
    features = extract(backbone, images, args.batch_size)
    labels = torch.randint(0, 5, (args.images,))
    print("features", tuple(features.shape), "probe loss", linear_probe(features, labels, device))


if __name__ == "__main__":
    main()
