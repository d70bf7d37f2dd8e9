import time

import torch
import torch.nn as nn


def build(device):
    net = nn.Sequential(
        nn.Conv1d(1, 16, 9, stride=4), nn.BatchNorm1d(16), nn.ReLU(),
        nn.Conv1d(16, 32, 9, stride=4), nn.BatchNorm1d(32), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 10),
    )
    return net.to(device)


def train(model, device, iterations=40, interval=10):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
    criterion = nn.CrossEntropyLoss()
    model.train()
    running = torch.zeros((), device=device)
    best = float("inf")
    start = time.perf_counter()
    for it in range(1, iterations + 1):
        wave = torch.randn(16, 1, 512, device=device)
        keyword = torch.randint(0, 10, (16,), device=device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = criterion(model(wave), keyword)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        running += loss.detach()
        if it % interval != 0:
            continue
        mean = running.item() / interval
        best = min(best, mean)
        print(f"{it}/{iterations} loss {mean:.3f} best {best:.3f} ({time.perf_counter() - start:.1f}s)")
        running.zero_()


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train(build(dev), dev)
