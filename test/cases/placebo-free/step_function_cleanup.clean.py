import torch
import torch.nn as nn
import torch.nn.functional as F


class StereoNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ELU())
        self.match = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, left, right):
        return F.softplus(self.match(torch.cat([self.encode(left), self.encode(right)], dim=1)))


@torch.no_grad()
def cost_statistics(features, shifts):
    """Matching cost over all shifts, and then a second pass that needs the room."""
    volume = torch.stack([features * features.roll(s, dims=-1) for s in range(shifts)])
    best = volume.sum(2).argmax(0)
    del volume
    smoothed = F.avg_pool2d(torch.cat([features] * 4, dim=1), 3, stride=1, padding=1)
    return best.float().mean().item(), smoothed.mean().item()


def optimise(model, optimizer, left, right, target):
    disparity = model(left, right)
    loss = F.smooth_l1_loss(disparity, target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, scenes, device):
    errors = []
    for left, right, target in scenes:
        disparity = model(left.to(device), right.to(device))
        errors.append((disparity - target.to(device)).abs().mean().item())
        del disparity, left, right, target
    return sum(errors) / len(errors)


def drop_largest(table):
    """The caller keeps the dict; the entry goes."""
    name = max(table, key=lambda key: table[key].numel())
    del table[name]
    return name


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = StereoNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    pyramid = {f"level{n}": torch.rand(1, 3, 32 >> n, 32 >> n, device=device) for n in range(3)}
    for step in range(16):
        left = torch.rand(4, 3, 24, 24, device=device)
        loss = optimise(model, optimizer, left, left.roll(2, dims=-1), left.mean(1, keepdim=True))
        if step % 8 == 7:
            print(step, f"loss {loss:.4f}")
    del left, optimizer
    held_out = [(torch.rand(2, 3, 24, 24), torch.rand(2, 3, 24, 24), torch.rand(2, 1, 24, 24)) for _ in range(4)]
    print("error", round(validate(model, held_out, device), 4), "dropped", drop_largest(pyramid))
    print("cost", cost_statistics(pyramid["level1"], 6))


if __name__ == "__main__":
    main()
