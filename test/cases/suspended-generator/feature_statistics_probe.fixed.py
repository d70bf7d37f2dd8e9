import torch
import torch.nn as nn


def feature_batches(encoder, batches, device, size=512, dim=256):
    """Yields the mean of each batch of features."""
    for _ in range(batches):
        pixels = torch.randn(size, dim, device=device)
        with torch.no_grad():
            features = encoder(pixels)
        summary = features.mean(0)
        yield summary


def make_encoder(dim=256, width=1024):
    return nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width)).requires_grad_(False).eval()


class Head(nn.Module):
    def __init__(self, offset, classes=4):
        super().__init__()
        self.register_buffer("offset", offset)
        self.fc = nn.Linear(offset.numel(), classes)

    def forward(self, x):
        return self.fc(x - self.offset)


def train_step(head, encoder, optimizer, x, y):
    with torch.no_grad():
        features = encoder(x)
    loss = nn.functional.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = make_encoder().to(device)
    stream = feature_batches(encoder, 8, device)
    offset = next(stream)
    stream.close()
    head = Head(offset).to(device)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
    for step in range(steps):
        x = torch.randn(32, 256, device=device)
        loss = train_step(head, encoder, optimizer, x, x[:, :4].argmax(1))
        if step % 5 == 0:
            print(f"{step:2d} {loss:.4f}")


if __name__ == "__main__":
    main()
