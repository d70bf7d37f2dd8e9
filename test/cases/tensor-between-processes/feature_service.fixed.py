"""An encoder in a thread of its own feeds a slower indexing thread."""

import argparse
import threading
import time
from queue import SimpleQueue

import torch
from torch import nn


def encoder(dim):
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, dim), nn.LayerNorm(dim))


class Producer(threading.Thread):
    def __init__(self, requests, results, model, device):
        super().__init__(name="encoder")
        self.requests, self.results = requests, results
        self.model, self.device = model.to(device).eval(), device
        self.rows = 0

    @torch.inference_mode()
    def run(self):
        for name, rows in self.requests:
            features = self.model(rows.to(self.device))
            self.results.put((name, features.cpu()))
            self.rows += len(rows)
        self.results.put(None)


class Indexer(threading.Thread):
    def __init__(self, results):
        super().__init__(name="indexer")
        self.results = results
        self.index = {}

    def run(self):
        while (item := self.results.get()) is not None:
            name, features = item
            time.sleep(0.01)
            self.index[name] = features.norm(dim=1).tolist()


def shards(count, rows):
    for n in range(count):
        yield f"shard-{n:02d}", torch.randn(rows, 64)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--rows", type=int, default=128)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    results = SimpleQueue()
    producer = Producer(shards(args.shards, args.rows), results, encoder(128), device)
    indexer = Indexer(results)
    producer.start()
    indexer.start()
    producer.join()
    indexer.join()
    first = indexer.index["shard-00"]
    print(producer.rows, "rows", len(indexer.index), "shards", round(sum(first) / len(first), 4))
