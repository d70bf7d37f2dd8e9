import torch
import torch.nn as nn


class GroupedScale(torch.autograd.Function):
    """Multiplies groups of channels with one learned factor each."""

    @staticmethod
    def forward(ctx, x, factors, groups, clamp):
        ctx.groups = groups
        ctx.shape = x.shape
        ctx.clamp = float(clamp)
        ctx.dtype = x.dtype
        ctx.needs_factor = factors.requires_grad
        factors = factors.clamp(max=ctx.clamp)
        y = x.view(x.size(0), groups, -1) * factors.view(1, groups, 1)
        ctx.save_for_backward(x, factors)
        return y.view(ctx.shape)

    @staticmethod
    def backward(ctx, grad):
        x, factors = ctx.saved_tensors
        grad = grad.reshape(grad.size(0), ctx.groups, -1)
        grad_x = (grad * factors.view(1, -1, 1)).view(ctx.shape).to(ctx.dtype)
        grad_f = None
        if ctx.needs_factor:
            grad_f = (grad * x.view_as(grad)).sum((0, 2)) * (factors < ctx.clamp)
        return grad_x, grad_f, None, None


class Layer(nn.Module):
    def __init__(self, width, groups):
        super().__init__()
        self.linear, self.groups = nn.Linear(width, width), groups
        self.factors = nn.Parameter(torch.ones(groups))

    def forward(self, x):
        return torch.relu(GroupedScale.apply(self.linear(x), self.factors, self.groups, 4.0))


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(Layer(48, 6), Layer(48, 4), nn.Linear(48, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for i in range(steps):
        x = torch.randn(64, 48, device=device)
        loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 5 == 0:
            print(i, round(loss.item(), 4))


if __name__ == "__main__":
    main()
