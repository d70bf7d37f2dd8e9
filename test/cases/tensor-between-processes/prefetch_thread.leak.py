import threading
import time
from queue import Queue

import torch
import torch.nn as nn


class BackgroundPrefetcher:
    """Moves batches to the device in a thread, ahead of the training loop."""

    def __init__(self, loader, device):
        self.loader, self.device = loader, device
        self.queue = Queue()  # also: tensor-between-processes
        self.thread = threading.Thread(target=self._fill, daemon=True)

    def _fill(self):
        for images, labels in self.loader:
            images = images.to(self.device, non_blocking=True)
            labels = labels.to(self.device, non_blocking=True)
            self.queue.put((images, labels))  # expect: tensor-between-processes
        self.queue.put(None)

    def __iter__(self):
        self.thread.start()
        while True:
            batch = self.queue.get()
            if batch is None:
                return
            yield batch


def synthetic_loader(batches, size=16):
    for n in range(batches):
        generator = torch.Generator().manual_seed(n)
        images = torch.rand(size, 3, 32, 32, generator=generator)
        yield images, (images[:, 0].mean((1, 2)) > 0.5).long()


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4))
        self.fc = nn.Linear(16 * 8 * 8, 2)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def train(device, batches=60):
    model = ConvNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    running = 0.0
    for step, (images, labels) in enumerate(BackgroundPrefetcher(synthetic_loader(batches), device)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % 20 == 19:
            print(f"{step + 1} steps, loss {running / 20:.4f}")
            running = 0.0
        time.sleep(0.005)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
