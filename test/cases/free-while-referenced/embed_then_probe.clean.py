import torch
import torch.nn as nn
import torch.nn.functional as F


class PatchEmbedder(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 8, stride=8)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        return tokens + self.mlp(tokens)


@torch.no_grad()
def pooled_features(device, count):
    embedder = PatchEmbedder().to(device).eval()
    tokens = embedder(torch.rand(count, 3, 64, 64, device=device))
    print("tokens", tuple(tokens.shape))
    return tokens.mean(dim=1)


def linear_probe(features, labels, epochs=6):
    probe = nn.Linear(features.size(1), 4).to(features.device)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    last = 0.0
    for _ in range(epochs):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(probe(features), labels)
        loss.backward()
        optimizer.step()
        last = loss.item()
    return last


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labels = torch.randint(0, 4, (48,), device=device)
    pooled = pooled_features(device, len(labels))
    torch.cuda.empty_cache()
    print(f"probe loss {linear_probe(pooled, labels):.4f}")


if __name__ == "__main__":
    main()
