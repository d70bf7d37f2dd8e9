import torch
import torch.nn as nn
from torch.autograd import Function


class SigmoidGate(Function):
    @staticmethod
    def forward(ctx, inputs, gate, temperature):
        s = torch.sigmoid(gate / temperature)
        result = inputs * s
        ctx.temperature = temperature
        ctx.save_for_backward(inputs, s)
        return result, s

    @staticmethod
    def backward(ctx, grad_result, grad_s):
        inputs, s = ctx.saved_tensors
        grad_gate = (grad_result * inputs + grad_s) * s * (1 - s) / ctx.temperature
        return grad_result * s, grad_gate, None


class ExpNormalize(Function):
    @staticmethod
    def forward(ctx, scores):
        shifted = scores - scores.max(dim=-1, keepdim=True).values
        weights = shifted.exp()
        weights = weights / weights.sum(dim=-1, keepdim=True)
        ctx.weights = weights  # expect: ctx-attribute
        return weights

    @staticmethod
    def backward(ctx, grad):
        w = ctx.weights
        return w * (grad - (grad * w).sum(dim=-1, keepdim=True))


class GatedAttention(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.q, self.k, self.v, self.g = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5
        mixed = ExpNormalize.apply(scores) @ self.v(x)
        return x + SigmoidGate.apply(mixed, self.g(x), 2.0)[0]


def step(model, head, optimizer, tokens, labels):
    loss = nn.functional.cross_entropy(head(model(tokens).mean(1)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, head = nn.Sequential(GatedAttention(), GatedAttention()).to(device), nn.Linear(32, 3).to(device)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
    for i in range(steps):
        tokens = torch.randn(16, 40, 32, device=device)
        loss = step(model, head, optimizer, tokens, torch.randint(0, 3, (16,), device=device))
        if i % 5 == 0:
            print(f"{i:>4} {loss:.4f}")


if __name__ == "__main__":
    main()
