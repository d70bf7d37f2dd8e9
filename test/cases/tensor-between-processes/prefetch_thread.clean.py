import threading
from queue import Empty, Queue

import torch
import torch.nn as nn


class BackgroundReader:
    """Reads ahead into host memory; the consumer moves what it takes. Commands and numbers go through a second queue."""

    def __init__(self, source, depth=0):
        self.batches = Queue(maxsize=depth)
        self.timings = Queue()
        self.thread = threading.Thread(target=self._fill, args=(source,), daemon=True)
        self.thread.start()

    def _fill(self, source):
        for number, (images, labels) in enumerate(source):
            self.batches.put((images, labels))
            self.timings.put((number, images.mean().item()))
        self.batches.put(None)

    def __iter__(self):
        while (batch := self.batches.get()) is not None:
            yield batch

    def report(self):
        rows = []
        while True:
            try:
                rows.append(self.timings.get_nowait())
            except Empty:
                return rows


class DevicePrefetcher:
    """Two batches ahead on the device at most."""

    def __init__(self, source, device):
        self.source, self.device = source, device
        self.ready = Queue(maxsize=2)

    def _move(self):
        for images, labels in self.source:
            self.ready.put((images.to(self.device), labels.to(self.device)))
        self.ready.put(None)

    def __iter__(self):
        threading.Thread(target=self._move, daemon=True).start()
        while (batch := self.ready.get()) is not None:
            yield batch


def images(batches, size=16):
    for n in range(batches):
        batch = torch.rand(size, 3, 32, 32, generator=torch.Generator().manual_seed(n))
        yield batch, (batch[:, 0].mean((1, 2)) > 0.5).long()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    reader = BackgroundReader(images(40))
    total = 0.0
    for x, y in DevicePrefetcher(reader, device):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("loss", round(total / 40, 4), "batches read", len(reader.report()))


if __name__ == "__main__":
    main()
