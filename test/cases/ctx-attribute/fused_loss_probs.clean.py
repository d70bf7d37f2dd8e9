from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class Context:
    device: torch.device
    step: int = 0
    losses: list = field(default_factory=list)
    batch: torch.Tensor | None = None


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        scale = levels - 1
        ctx.scale = scale
        ctx.in_shape = tuple(x.size())
        ctx.set_materialize_grads(False)
        return torch.round(x.clamp(0, 1) * scale) / scale

    @staticmethod
    def backward(ctx, grad):
        return None if grad is None else grad.reshape(ctx.in_shape), None


class Quantised(nn.Module):
    def __init__(self, dim=32, levels=16):
        super().__init__()
        self.levels = levels
        self.enc, self.dec = nn.Linear(dim, 8), nn.Linear(8, dim)

    def forward(self, x):
        return self.dec(RoundSTE.apply(torch.sigmoid(self.enc(x)), self.levels))


def load(ctx):
    ctx.batch = torch.rand(64, 32, device=ctx.device)
    return ctx


def advance(ctx, model, optimizer):
    loss = nn.functional.mse_loss(model(ctx.batch), ctx.batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ctx.losses.append(loss.item())
    ctx.step += 1


def main():
    ctx = Context(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    model = Quantised().to(ctx.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    while ctx.step < 20:
        advance(load(ctx), model, optimizer)
    print("first and last loss:", round(ctx.losses[0], 4), round(ctx.losses[-1], 4))


if __name__ == "__main__":
    main()
