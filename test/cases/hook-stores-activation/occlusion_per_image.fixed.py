import argparse

import torch
import torch.nn as nn


class SmallCNN(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 3, padding=1), nn.ReLU()
        )
        self.classifier = nn.Linear(48, classes)

    def forward(self, x):
        return self.classifier(self.features(x).amax((2, 3)))


@torch.no_grad()
def activation_map(model, image):
    """Mean activation of the last convolution and the predicted class of one image."""
    maps = []
    target_layer = model.features[3]
    handle = target_layer.register_forward_hook(lambda m, args, out: maps.append(out))
    label = model(image.unsqueeze(0)).argmax(1).item()
    handle.remove()
    heat = maps[0][0].mean(0)
    return label, (heat - heat.min()) / (heat.max() - heat.min() + 1e-6)


def summarise(label, heat, number):
    row, col = divmod(int(heat.argmax()), heat.shape[1])
    return f"image {number}: class {label}, focus at ({row}, {col}), mean {heat.mean().item():.3f}"


def main():
    parser = argparse.ArgumentParser(description="Where does the network look?")
    parser.add_argument("--images", type=int, default=14)
    parser.add_argument("--size", type=int, default=32)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SmallCNN().to(device).eval()
    for number in range(args.images):
        image = torch.rand(3, args.size, args.size, device=device)
        label, heat = activation_map(model, image)
        if number % 4 == 0:
            print(summarise(label, heat, number))


if __name__ == "__main__":
    main()
