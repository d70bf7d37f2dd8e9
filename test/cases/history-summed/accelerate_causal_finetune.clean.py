import torch
import torch.nn as nn


class GCN(nn.Module):
    def __init__(self, nfeat=24, nhid=32, nclass=5):
        super().__init__()
        self.w1 = nn.Linear(nfeat, nhid)
        self.w2 = nn.Linear(nhid, nclass)

    def forward(self, x, adj):
        h = torch.relu(adj @ self.w1(x))
        return adj @ self.w2(h)


def train_step(model, optimizer, graph):
    x, adj, y, mask = graph
    optimizer.zero_grad()
    out = model(x, adj)
    loss = nn.functional.cross_entropy(out[mask], y[mask])
    loss.backward()
    optimizer.step()
    correct = (out[mask].argmax(-1) == y[mask]).sum()
    return loss.item(), int(correct), int(mask.sum())


def random_graph(n, device):
    adj = (torch.rand(n, n, device=device) < 0.1).float()
    adj = adj + adj.T + torch.eye(n, device=device)
    return (torch.randn(n, 24, device=device), adj / adj.sum(1, keepdim=True),
            torch.randint(0, 5, (n,), device=device), torch.rand(n, device=device) < 0.6)


def fit(epochs=3):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = GCN().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
    graphs = [random_graph(60, device) for _ in range(10)]
    for epoch in range(epochs):
        total_loss = total_correct = total_nodes = 0
        for graph in graphs:
            loss, correct, count = train_step(model, optimizer, graph)
            total_loss += loss * count
            total_correct += correct
            total_nodes += count
        print(f"epoch {epoch} loss {total_loss / total_nodes:.4f} acc {total_correct / total_nodes:.3f}")


if __name__ == "__main__":
    fit()
