import torch
import torch.nn as nn


class MF(nn.Module):
    def __init__(self, n_users, n_items, k=16):
        super().__init__()
        self.user, self.item = nn.Embedding(n_users, k), nn.Embedding(n_items, k)
        self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(1)
        return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1)


def ratings(steps, batch, n_users, n_items, device):
    gen = torch.Generator().manual_seed(3)
    for _ in range(steps):
        u = torch.randint(0, n_users, (batch,), generator=gen)
        i = torch.randint(0, n_items, (batch,), generator=gen)
        yield u.to(device), i.to(device), torch.rand(batch, generator=gen).to(device) * 5


def fit(net, device, epochs=1, steps=60, batch=64, reg=1e-4, log_every=20):
    opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
    for epoch in range(epochs):
        stats = {"mse": 0.0, "penalty": 0.0, "seen": 0}
        for step, (u, i, r) in enumerate(ratings(steps, batch, 300, 500, device), start=1):
            with torch.autocast(device.type, enabled=device.type == "cuda"):
                mse = (net(u, i) - r).square().mean()
                penalty = reg * (net.user(u).square().sum() + net.item(i).square().sum())
            opt.zero_grad(set_to_none=True)
            scaler.scale(mse + penalty).backward()
            scaler.step(opt)
            scaler.update()
            stats["mse"] += mse * len(r)  # expect: history-summed
            stats["penalty"] += penalty.item() * len(r)
            stats["seen"] += len(r)
            if step % log_every == 0:
                print(f"[{epoch}:{step}] mse={stats['mse'] / stats['seen']:.4f} reg={stats['penalty'] / stats['seen']:.4f}")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fit(MF(300, 500).to(device), device)


if __name__ == "__main__":
    main()
