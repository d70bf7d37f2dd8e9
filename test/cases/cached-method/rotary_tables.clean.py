from functools import cached_property, lru_cache

import torch
import torch.nn as nn
import torch.nn.functional as F


class WindowAttention(nn.Module):
    def __init__(self, dim=48, window=4, heads=4):
        super().__init__()
        self.window, self.heads = window, heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.bias_table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))

    @cached_property
    def relative_index(self):
        axis = torch.arange(self.window, device=self.bias_table.device)
        grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij")).flatten(1)
        delta = grid[:, :, None] - grid[:, None, :] + self.window - 1
        return delta[0] * (2 * self.window - 1) + delta[1]

    @staticmethod
    @lru_cache(maxsize=8)
    def scale(head_dim):
        return head_dim**-0.5

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.bias_table[self.relative_index.flatten()].view(t, t, -1).permute(2, 0, 1)
        weights = F.softmax(q @ k.transpose(-2, -1) * self.scale(d // self.heads) + bias, dim=-1)
        return x + self.proj((weights @ v).transpose(1, 2).reshape(n, t, d))


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(WindowAttention(), WindowAttention()).to(device)
    head = nn.Linear(48, 5).to(device)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
    for step in range(steps):
        windows = torch.randn(32, 16, 48, device=device)
        labels = torch.randint(0, 5, (32,), device=device)
        optimizer.zero_grad()
        loss = F.cross_entropy(head(model(windows).mean(1)), labels)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
