import torch
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Linear(16 * 10 * 10, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def integrated_gradients(model, image, target, steps=8):
    baseline = torch.zeros_like(image)
    total = torch.zeros_like(image)
    for k in range(1, steps + 1):
        point = (baseline + (image - baseline) * k / steps).requires_grad_(True)
        score = model(point.unsqueeze(0))[0, target]
        total += torch.autograd.grad(score, point)[0]
    return (image - baseline) * total / steps


def explain(model, images, device):
    model.eval()
    maps = []
    confidence = {}
    for i, image in enumerate(images):
        image = image.to(device)
        with torch.no_grad():
            probs = model(image.unsqueeze(0)).softmax(1)[0]
        target = probs.argmax().item()
        confidence[i] = probs.max()
        maps.append(integrated_gradients(model, image, target).abs().sum(0).cpu())
    return torch.stack(maps), confidence


def main():
    torch.manual_seed(3)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SmallCNN().to(device)
    for p in model.parameters():
        p.requires_grad_(False)
    maps, confidence = explain(model, torch.rand(12, 3, 20, 20), device)
    top = max(confidence, key=lambda i: confidence[i].item())
    print("maps", tuple(maps.shape), "most certain", top, f"{confidence[top].item():.3f}")


if __name__ == "__main__":
    main()
