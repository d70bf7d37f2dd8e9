import functools

import torch
import torch.nn as nn


@functools.lru_cache(maxsize=512)  # expect: cached-method
def normalised_adjacency(edges, num_nodes):  # also: cached-method
    adjacency = torch.eye(num_nodes, device=edges.device)
    adjacency[edges[0], edges[1]] = 1.0
    adjacency[edges[1], edges[0]] = 1.0
    inv_sqrt = adjacency.sum(1).rsqrt()
    return inv_sqrt[:, None] * adjacency * inv_sqrt[None, :]


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, h, a_hat):
        return a_hat @ self.linear(h)


class GCN(nn.Module):
    def __init__(self, n_feat, hidden, n_class):
        super().__init__()
        self.conv1, self.conv2 = GraphConv(n_feat, hidden), GraphConv(hidden, hidden)
        self.readout = nn.Linear(hidden, n_class)

    def forward(self, x, edges):
        a_hat = normalised_adjacency(edges, x.size(0))
        h = torch.relu(self.conv1(x, a_hat))
        h = torch.relu(self.conv2(h, a_hat))
        return self.readout(h.mean(0, keepdim=True))


def random_graph(device, nodes=100, degree=4, features=16):
    edges = torch.randint(0, nodes, (2, nodes * degree), device=device)
    return torch.randn(nodes, features, device=device), edges, torch.randint(0, 3, (1,), device=device)


def train_on(model, optimizer, graph):
    x, edges, y = graph
    loss = nn.functional.cross_entropy(model(x, edges), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gcn = GCN(16, 32, 3).to(device)
    adam = torch.optim.Adam(gcn.parameters(), lr=5e-3)
    window = []
    for i in range(24):
        window.append(train_on(gcn, adam, random_graph(device)))
        if len(window) == 8:
            print(f"graphs {i + 1:3d}: {sum(window) / 8:.4f}")
            window.clear()
