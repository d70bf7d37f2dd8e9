import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.time = nn.Embedding(10, ch)
        self.inp, self.mid, self.out = nn.Conv2d(1, ch, 3, 1, 1), nn.Conv2d(ch, ch, 3, 1, 1), nn.Conv2d(ch, 1, 3, 1, 1)

    def forward(self, x, t):
        h = torch.relu(self.inp(x) + self.time(t)[:, :, None, None])
        return self.out(torch.relu(self.mid(h)))


class Diffusion:
    def __init__(self, model, device, steps=10):
        self.model, self.device, self.steps = model.to(device), device, steps
        self.alpha_bar = torch.cumprod(1 - torch.linspace(1e-3, 0.2, steps, device=device), 0)

    def loss(self, x0):
        t = torch.randint(0, self.steps, (len(x0),), device=self.device)
        a = self.alpha_bar[t][:, None, None, None]
        noise = torch.randn_like(x0)
        return nn.functional.mse_loss(self.model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)

    def sample(self, n):
        x = torch.randn(n, 1, 16, 16, device=self.device)
        trajectory = []
        for step in reversed(range(self.steps)):
            t = torch.full((n,), step, device=self.device)
            with torch.no_grad():
                eps = self.model(x, t)
            a = self.alpha_bar[step]
            x = (x - (1 - a).sqrt() * eps) / a.sqrt()
            x = x.clamp(-3, 3)
            trajectory.append(x.cpu())
        return torch.stack(trajectory)


def main(iterations=20):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    diffusion = Diffusion(Denoiser(), device)
    optimizer = torch.optim.Adam(diffusion.model.parameters(), lr=1e-3)
    grids = {}
    for it in range(iterations):
        x0 = torch.rand(16, 1, 16, 16, device=device) * 2 - 1
        loss = diffusion.loss(x0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 5 == 0:
            grids[it] = diffusion.sample(4)
            print(it, f"{loss.item():.4f}", tuple(grids[it].shape))


if __name__ == "__main__":
    main()
