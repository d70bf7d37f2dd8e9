import threading

import torch
import torch.nn as nn


def write_sample(step, image, sink):
    sink.append((step, float(image.mean())))


def sample(generator, device, count=20):
    generator.eval()
    sink, workers = [], []
    with torch.no_grad():
        for step in range(count):
            z = torch.randn(8, 32, device=device)
            image = generator(z).view(8, 1, 28, 28)
            workers.append(threading.Thread(target=write_sample, args=(step, image.cpu(), sink)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(sink)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 784), nn.Tanh()).to(device)
    rows = sample(generator, device)
    print(len(rows), rows[0])


if __name__ == "__main__":
    main()
