import torch
import torch.nn as nn
import torch.nn.functional as F


class RetrievalMAP:
    """Mean average precision over queries, from the scores and relevance of all of them."""

    def __init__(self):
        self.indexes, self.scores, self.relevant = [], [], []

    def reset(self):
        self.indexes.clear()
        self.scores.clear()
        self.relevant.clear()

    def update(self, scores, relevant, indexes):
        self.scores.append(scores)
        self.relevant.append(relevant)
        self.indexes.append(indexes)

    def compute(self):
        scores, relevant, indexes = torch.cat(self.scores), torch.cat(self.relevant), torch.cat(self.indexes)
        values = []
        for query in indexes.unique():
            mine = indexes == query
            hits = relevant[mine][scores[mine].argsort(descending=True)].float()
            ranks = torch.arange(1, len(hits) + 1, device=hits.device)
            values.append(((hits.cumsum(0) / ranks) * hits).sum().item() / max(hits.sum().item(), 1))
        return sum(values) / len(values)


class TwoTower(nn.Module):
    def __init__(self, dim=24, width=48):
        super().__init__()
        self.query, self.item = nn.Linear(dim, width), nn.Linear(dim, width)

    def forward(self, q, items):
        return torch.einsum("bd,bnd->bn", F.normalize(self.query(q), dim=-1), F.normalize(self.item(items), dim=-1))


def make_batches(count, first_id=0, queries=8, candidates=40):
    for n in range(count):
        q = torch.randn(queries, 24)
        items = torch.randn(queries, candidates, 24)
        items[:, :4] += q[:, None]
        ids = torch.arange(queries) + first_id + n * queries
        yield q, items, ids


def main(epochs=8):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TwoTower().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    positives = torch.zeros(40, dtype=torch.bool, device=device)
    positives[:4] = True
    metric = RetrievalMAP()
    for epoch in range(epochs):
        model.train()
        for q, items, _ in make_batches(6):
            scores = model(q.to(device), items.to(device))
            loss = F.binary_cross_entropy_with_logits(5 * scores, positives.float().expand_as(scores))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for q, items, ids in make_batches(4):
                row = ids.to(device)[:, None].expand(-1, 40)
                metric.update(model(q.to(device), items.to(device)).flatten(), positives.repeat(len(q)), row.flatten())
        print(f"epoch {epoch} loss {loss.item():.4f} mAP {metric.compute():.4f}")
        metric.reset()


if __name__ == "__main__":
    main()
