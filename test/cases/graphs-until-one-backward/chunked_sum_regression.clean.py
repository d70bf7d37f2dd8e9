import torch
from torch import nn


class PyramidHead(nn.Module):
    def __init__(self, ch=12, levels=3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.ReLU())
        self.stages = nn.ModuleList([nn.Sequential(nn.Conv2d(ch, ch, 3, 2, 1), nn.ReLU()) for _ in range(levels)])
        self.outs = nn.ModuleList([nn.Conv2d(ch, 1, 1) for _ in range(levels)])

    def forward(self, x):
        x = self.stem(x)
        pyramid = []
        for stage, out in zip(self.stages, self.outs):
            x = stage(x)
            pyramid.append(out(x))
        return pyramid


def deep_supervision(outputs, mask, weights):
    loss = 0.0
    for weight, out in zip(weights, outputs):
        small = nn.functional.adaptive_avg_pool2d(mask, out.shape[-2:])
        loss = loss + weight * nn.functional.binary_cross_entropy_with_logits(out, small)
    return loss


class WeightPenalty:
    """Adds the per-layer weight penalties into one term."""

    def __init__(self, model, factor):
        self.layers = [m for m in model.modules() if isinstance(m, nn.Conv2d)]
        self.factor = factor

    def __call__(self):
        terms = []
        for layer in self.layers:
            terms.append(layer.weight.flatten(1).norm(dim=1).mean())
        return self.factor * torch.stack(terms).sum()


def main(steps=25):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = PyramidHead().to(device)
    penalty = WeightPenalty(model, 1e-3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    log = []
    for step in range(steps):
        image = torch.rand(4, 3, 24, 24, device=device)
        mask = (image.mean(1, keepdim=True) > 0.5).float()
        loss = deep_supervision(model(image), mask, (1.0, 0.5, 0.25))
        total = loss + penalty()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        log.append((loss.item(), total.item()))
    print("first", log[0], "last", log[-1])


if __name__ == "__main__":
    main()
