import torch
import torch.nn as nn


def double_conv(c_in, c_out):
    layers = []
    for i in range(2):
        layers.append(nn.Conv2d(c_in if i == 0 else c_out, c_out, 3, padding=1))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self, widths=(8, 16, 32), classes=2):
        super().__init__()
        self.down = nn.ModuleList([double_conv(a, b) for a, b in zip((1,) + widths[:-1], widths)])
        self.up = nn.ModuleList([double_conv(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1])])
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x, return_features=False):
        skips, features = [], {}
        for i, block in enumerate(self.down):
            x = block(x)
            if i < len(self.down) - 1:
                skips.append(x)
                x = nn.functional.max_pool2d(x, 2)
        features["bottleneck"] = x
        for i, block in enumerate(self.up):
            x = nn.functional.interpolate(x, scale_factor=2)
            x = block(torch.cat([x, skips.pop()], dim=1))
            features[f"up{i}"] = x
        logits = self.head(x)
        return (logits, features) if return_features else logits


def train(device, steps=10):
    model = UNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    history = []
    for step in range(steps):
        image = torch.randn(2, 1, 32, 32, device=device)
        mask = (image[:, 0] > 0).long()
        logits, features = model(image, return_features=True)
        deep = features["bottleneck"].pow(2).mean()
        loss = nn.functional.cross_entropy(logits, mask) + 1e-3 * deep
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append({"step": step, "loss": loss.item(), "deep": deep.item()})
    return history


if __name__ == "__main__":
    for row in train(torch.device("cuda" if torch.cuda.is_available() else "cpu"))[::3]:
        print(row)
