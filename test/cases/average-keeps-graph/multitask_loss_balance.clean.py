import torch
import torch.nn as nn


class FastSlow(nn.Module):
    """Leaky integration over the frames of one clip."""

    def __init__(self, d=20, h=48, classes=4):
        super().__init__()
        self.inp = nn.Linear(d, h)
        self.log_tau = nn.Parameter(torch.zeros(h))
        self.out = nn.Linear(h, classes)

    def forward(self, clip):
        rate = torch.sigmoid(self.log_tau)
        state = torch.zeros(clip.size(0), self.inp.out_features, device=clip.device)
        for frame in clip.unbind(1):
            state = (1 - rate) * state + rate * torch.tanh(self.inp(frame))
        return self.out(state)


class PlateauWatch:
    def __init__(self, beta=0.95):
        self.beta, self.ema, self.best, self.stale = beta, None, float("inf"), 0

    def step(self, loss):
        value = loss.detach()
        self.ema = value if self.ema is None else self.beta * self.ema + (1 - self.beta) * value
        current = self.ema.item()
        self.stale = 0 if current < self.best - 1e-3 else self.stale + 1
        self.best = min(self.best, current)
        return self.stale > 10


def main(steps=60):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net, watch = FastSlow().to(device), PlateauWatch()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    grad_scale = 1.0
    for step in range(steps):
        clip = torch.randn(16, 8, 20, device=device)
        label = clip[:, -1, :4].argmax(1)
        loss = nn.functional.cross_entropy(net(clip), label)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 10 * grad_scale).item()
        grad_scale = 0.9 * grad_scale + 0.1 * norm
        optimizer.step()
        if watch.step(loss):
            print("plateau at", step)
            break
    print(f"ema {watch.ema.item():.4f} grad scale {grad_scale:.3f}")


if __name__ == "__main__":
    main()
