import torch
import torch.nn as nn


class UNetLite(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.enc = nn.Conv2d(1, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.dec = nn.Conv2d(2 * width, 2, 3, padding=1)

    def forward(self, x):
        skip = torch.relu(self.enc(x))
        deep = torch.relu(self.mid(nn.functional.avg_pool2d(skip, 2)))
        return self.dec(torch.cat([skip, nn.functional.interpolate(deep, scale_factor=2)], 1))


def foreground_share(logits):
    return (logits[:, 1] > logits[:, 0]).float().mean().item()


def report(step, share):
    print(f"step {step:3d} foreground {share:.3f}")


def train_one(model, optimizer, images, masks):
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return logits


def train(model, optimizer, device, steps=18):
    pending = []
    for step in range(steps):
        images = torch.rand(4, 1, 32, 32, device=device)
        masks = (images[:, 0] > 0.5).long()
        out = train_one(model, optimizer, images, masks)
        pending.append(lambda share=foreground_share(out), step=step: report(step, share))
    return pending


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = UNetLite().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for show in train(model, optimizer, device)[::6]:
        show()


if __name__ == "__main__":
    main()
