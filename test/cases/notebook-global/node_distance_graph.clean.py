# %% [markdown]
# # Nearest-neighbour search with a threshold that gets tuned by hand

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
radius = 9.2


# %%
def edges_within(limit):
    """Pairs of `distances` under the limit."""
    return (distances < limit).nonzero()


# %%
points = torch.randn(900, 50, device=device)
distances = torch.cdist(points, points).fill_diagonal_(float("inf"))

# %%
pairs = edges_within(radius)
print("pairs", len(pairs), "mean degree", round(len(pairs) / len(points), 2))

# %%
encoder = nn.Sequential(nn.Linear(50, 32), nn.ReLU(), nn.Linear(32, 8)).to(device)


def contrast(steps):
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    curve = []
    for _ in range(steps):
        chosen = pairs[torch.randint(0, len(pairs), (128,), device=device)]
        left, right = F.normalize(encoder(points[chosen[:, 0]]), dim=1), F.normalize(encoder(points[chosen[:, 1]]), dim=1)
        loss = F.cross_entropy(left @ right.T / 0.2, torch.arange(128, device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    return curve


curve = contrast(25)

# %%
with torch.no_grad():
    similarity = F.normalize(encoder(points), dim=1) @ F.normalize(encoder(points), dim=1).T
    closest = similarity.fill_diagonal_(-1).argmax(1).tolist()
del similarity

# %%
agreement = sum(distances[i, j].item() < radius for i, j in enumerate(closest)) / len(closest)
print(f"loss {curve[0]:.3f} -> {curve[-1]:.3f}, close pairs {agreement:.3f}")
