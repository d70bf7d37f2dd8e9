# %% [markdown]
# # A k-nearest-neighbour graph over cells, and a small GCN on it

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
n_cells, n_genes, k = 1200, 50, 8

# %%
expression = torch.randn(n_cells, n_genes, device=device)
cell_type = torch.randint(0, 5, (n_cells,), device=device)
expression[torch.arange(n_cells), cell_type] += 2.0

# %%
pairwise = torch.cdist(expression, expression)  # expect: notebook-global
edges = pairwise.topk(k + 1, largest=False).indices[:, 1:]  # also: notebook-global
print("edges", edges.numel(), "self loops", int((edges == torch.arange(n_cells, device=device)[:, None]).sum()))


# %%
class NeighbourConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.own, self.others = nn.Linear(n_in, n_out), nn.Linear(n_in, n_out)

    def forward(self, h, neighbours):
        return self.own(h) + self.others(h[neighbours].mean(1))


class GCN(nn.Module):
    def __init__(self, n_in, hidden, classes):
        super().__init__()
        self.first, self.second = NeighbourConv(n_in, hidden), NeighbourConv(hidden, classes)

    def forward(self, h, neighbours):
        return self.second(F.relu(self.first(h, neighbours)), neighbours)


# %%
def fit(model, features, neighbours, target, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    curve = []
    for _ in range(epochs):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(features, neighbours), target)
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    return curve


gcn = GCN(n_genes, 32, 5).to(device)
curve = fit(gcn, expression, edges, cell_type, 25)

# %%
with torch.no_grad():
    hits = (gcn(expression, edges).argmax(1) == cell_type).float().mean().item()
print(f"loss {curve[0]:.3f} -> {curve[-1]:.3f}, accuracy {hits:.3f}")
