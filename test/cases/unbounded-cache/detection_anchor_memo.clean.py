import torch
import torch.nn as nn
import torch.nn.functional as F

RESOLUTIONS = (16, 24, 32)
_COORDS = {}


def coordinates(resolution, device):
    if resolution not in _COORDS:
        axis = torch.linspace(-1, 1, resolution, device=device)
        _COORDS[resolution] = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).view(-1, 2)
    return _COORDS[resolution]


class ImplicitImage(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, xy):
        for layer in self.layers[:-1]:
            xy = torch.sin(6 * layer(xy))
        return self.layers[-1](xy)


def step(field, optimizer, resolution, device):
    xy = coordinates(resolution, device)
    target = (xy.square().sum(1, keepdim=True) < 0.5).float()
    loss = F.mse_loss(field(xy), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(epochs=8):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    field = ImplicitImage().to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-3)
    for epoch in range(epochs):
        losses = {resolution: step(field, optimizer, resolution, device) for resolution in RESOLUTIONS}
        if epoch % 3 == 0:
            print(epoch, {k: round(v, 4) for k, v in losses.items()})


if __name__ == "__main__":
    main()
