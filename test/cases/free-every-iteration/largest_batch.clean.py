import torch
import torch.nn as nn


def measure(batch, device):
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1)).to(device)
    x = torch.rand(batch, 3, 32, 32, device=device)
    loss = (model(x) - x).abs().mean()
    loss.backward()
    return loss.item()


def largest_batch(device, limit=64):
    batch, last = 4, None
    while batch <= limit:
        failed = False
        try:
            value = measure(batch, device)
        except torch.cuda.OutOfMemoryError:
            failed = True
        torch.cuda.empty_cache()
        if failed:
            break
        last = (batch, value)
        batch *= 2
    return last


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("largest", largest_batch(dev))
