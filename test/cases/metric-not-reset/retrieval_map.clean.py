import torch
import torch.nn as nn
import torch.nn.functional as F


class RetrievalMAP:
    def __init__(self):
        self.scores, self.relevant = [], []

    def update(self, scores, relevant):
        self.scores.append(scores)
        self.relevant.append(relevant)

    def compute(self):
        scores, relevant = torch.cat(self.scores), torch.cat(self.relevant)
        hits = relevant.gather(1, scores.argsort(dim=1, descending=True)).float()
        ranks = torch.arange(1, hits.shape[1] + 1, device=hits.device)
        return ((hits.cumsum(1) / ranks * hits).sum(1) / hits.sum(1).clamp_min(1)).mean().item()


class MeanRank:
    """Sums only: its size does not depend on the number of batches."""

    def __init__(self, device):
        self.total = torch.zeros((), device=device)
        self.count = 0

    def update(self, scores):
        self.total += (scores[:, 1:] > scores[:, :1]).sum()
        self.count += len(scores)

    def compute(self):
        return 1 + self.total.item() / max(self.count, 1)


class TwoTower(nn.Module):
    def __init__(self, dim=24, width=48):
        super().__init__()
        self.query, self.item = nn.Linear(dim, width), nn.Linear(dim, width)

    def forward(self, q, items):
        return torch.einsum("bd,bnd->bn", F.normalize(self.query(q), dim=-1), F.normalize(self.item(items), dim=-1))


def make_batches(count, queries=8, candidates=40):
    for _ in range(count):
        q, items = torch.randn(queries, 24), torch.randn(queries, candidates, 24)
        items[:, :4] += q[:, None]
        yield q, items


@torch.no_grad()
def evaluate(model, positives, mean_rank, device):
    precision = RetrievalMAP()
    for q, items in make_batches(4):
        scores = model(q.to(device), items.to(device))
        precision.update(scores, positives.expand_as(scores))
        mean_rank.update(scores)
    return precision.compute(), mean_rank.compute()


def main(epochs=6):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TwoTower().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    positives = torch.arange(40, device=device) < 4
    mean_rank = MeanRank(device)
    for epoch in range(epochs):
        for q, items in make_batches(6):
            scores = model(q.to(device), items.to(device))
            loss = F.binary_cross_entropy_with_logits(5 * scores, positives.float().expand_as(scores))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ap, rank = evaluate(model, positives, mean_rank, device)
        print(f"epoch {epoch} loss {loss.item():.4f} mAP {ap:.4f} rank so far {rank:.2f}")


if __name__ == "__main__":
    main()
