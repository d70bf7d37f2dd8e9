from functools import cache

import torch
import torch.nn as nn
import torch.nn.functional as F


class RotaryEmbedding(nn.Module):
    def __init__(self, head_dim, base=10_000.0):
        super().__init__()
        exponent = torch.arange(0, head_dim, 2).float() / head_dim
        self.register_buffer("inv_freq", base**-exponent)

    @cache  # expect: cached-method
    def tables(self, position_ids):  # also: cached-method
        angles = position_ids.float().unsqueeze(-1) * self.inv_freq
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)

    def forward(self, x, position_ids):
        cos, sin = self.tables(position_ids)
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin


class RotaryAttention(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.rotary = RotaryEmbedding(dim // heads)

    def forward(self, x, position_ids):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rotary(q, position_ids), self.rotary(k, position_ids)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(mixed.transpose(1, 2).reshape(b, t, d))


class PackedLM(nn.Module):
    def __init__(self, vocab=120, dim=64):
        super().__init__()
        self.embed, self.attn, self.head = nn.Embedding(vocab, dim), RotaryAttention(dim), nn.Linear(dim, vocab)

    def forward(self, ids, position_ids):
        return self.head(self.attn(self.embed(ids), position_ids))


def training_step(model, optimizer, ids):
    positions = torch.arange(ids.size(1), device=ids.device).expand_as(ids).contiguous()
    logits = model(ids[:, :-1], positions[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=15):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = PackedLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        loss = training_step(model, optimizer, torch.randint(0, 120, (8, 33), device=device))
        if step % 5 == 0:
            print(f"step {step}: {loss:.4f}")


if __name__ == "__main__":
    main()
