import torch
from torch import nn

TASKS = ("depth", "normals", "albedo")


class Perception(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Conv2d(ch, c, 1) for name, c in zip(TASKS, (1, 3, 3))})

    def forward(self, image):
        z = self.trunk(image)
        return {name: head(z) for name, head in self.heads.items()}


def scenes(n, device):
    for _ in range(n):
        image = torch.rand(4, 3, 16, 16, device=device)
        yield image, {"depth": image.mean(1, keepdim=True), "normals": image.roll(1, 1), "albedo": image.sqrt()}


def fit(model, device, steps=50, momentum=0.9):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    averages = {}
    for step, (image, targets) in enumerate(scenes(steps, device)):
        predictions = model(image)
        losses = {k: (predictions[k] - targets[k]).abs().mean() for k in TASKS}
        for name, value in losses.items():
            if name not in averages:
                averages[name] = value.detach()
                continue
            averages[name] = momentum * averages[name] + (1 - momentum) * value.detach()
        scale = {k: 1.0 / (averages[k].item() + 1e-6) for k in TASKS}
        total = sum(scale[k] * losses[k] for k in TASKS)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, {k: round(averages[k].item(), 4) for k in TASKS})


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fit(Perception().to(dev), dev)
