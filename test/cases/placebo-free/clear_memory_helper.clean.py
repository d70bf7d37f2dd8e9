import gc

import torch
from torch import nn


class Session:
    """Owns the models; what it lets go of is gone, because nobody else has it."""

    def __init__(self, device):
        self.device = device
        self.models = {}

    def add(self, name, model):
        self.models[name] = model.to(self.device)

    def release(self, name):
        model = self.models.pop(name)
        size = sum(p.numel() for p in model.parameters())
        del model
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return size

    @torch.no_grad()
    def embed_all(self, ids, batch_size):
        encoder = self.models["encoder"].eval()
        vectors = torch.empty(len(ids), 64)
        for start in range(0, len(ids), batch_size):
            vectors[start : start + batch_size] = encoder(ids[start : start + batch_size].to(self.device)).cpu()
        return vectors

    def train_ranker(self, vectors, steps):
        ranker = self.models["ranker"]
        optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)
        value = 0.0
        for _ in range(steps):
            rows = torch.randint(0, len(vectors), (2, 64))
            a, b = vectors[rows[0]].to(self.device), vectors[rows[1]].to(self.device)
            loss = nn.functional.mse_loss(ranker(a, b).squeeze(-1), (a * b).sum(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.item()
        return value


def main():
    torch.manual_seed(0)
    session = Session(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    session.add("encoder", nn.Sequential(nn.EmbeddingBag(4000, 64), nn.LayerNorm(64)))
    vectors = session.embed_all(torch.randint(0, 4000, (600, 20)), 50)
    print("released", session.release("encoder"), "parameters")
    session.add("ranker", nn.Bilinear(64, 64, 1))
    print("ranker loss", round(session.train_ranker(vectors, 60), 4))


if __name__ == "__main__":
    main()
