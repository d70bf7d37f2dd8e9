import itertools

import torch
import torch.nn as nn


def embeddings(encoder, device, count):
    for i in range(count):
        tokens = torch.randint(0, 500, (32, 64), device=device)
        with torch.no_grad():
            states = encoder(tokens)
        yield states.mean(1)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Embedding(500, 128), nn.Linear(128, 256), nn.ReLU()).to(device)
    stream = embeddings(encoder, device, 20)  # also: suspended-generator
    warmup = torch.cat(list(itertools.islice(stream, 2)))  # expect: suspended-generator
    mean, std = warmup.mean().item(), warmup.std().item()
    print(f"mean {mean:.3f} std {std:.3f}")
    probe = nn.Linear(256, 3).to(device)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    for step in range(40):
        x = torch.randn(64, 256, device=device) * std + mean
        loss = nn.functional.cross_entropy(probe(x), torch.randint(0, 3, (64,), device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("probe loss", loss.item())


if __name__ == "__main__":
    main()
