import torch
import torch.nn as nn


class HutchinsonSGD(torch.optim.Optimizer):
    """SGD preconditioned with a running estimate of the Hessian diagonal."""

    def __init__(self, params, lr=0.05, beta=0.95, eps=1e-2):
        super().__init__(params, dict(lr=lr, beta=beta, eps=eps))

    @torch.no_grad()
    def step(self, grads, diagonals):
        index = 0
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "d" not in state:
                    state["d"] = torch.ones_like(p)
                state["d"].mul_(group["beta"]).addcmul_(diagonals[index], diagonals[index], value=1 - group["beta"])
                p.addcdiv_(grads[index], state["d"].sqrt() + group["eps"], value=-group["lr"])
                index += 1


def hessian_diagonal(params, grads):
    signs = [torch.randint_like(p, 2) * 2 - 1 for p in params]
    products = torch.autograd.grad(grads, params, grad_outputs=signs)
    return [z * hz for z, hz in zip(signs, products)]


def training_step(model, optimizer, criterion, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    loss = criterion(model(x), y)
    loss.backward(create_graph=True)  # expect: backward-create-graph
    grads = [p.grad for p in params]
    diagonals = hessian_diagonal(params, grads)
    optimizer.step([g.detach() for g in grads], diagonals)
    return loss.item()


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(24, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 4)).to(device)
    optimizer = HutchinsonSGD(model.parameters())
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        x = torch.randn(64, 24, device=device)
        y = x[:, :4].argmax(1)
        loss = training_step(model, optimizer, criterion, x, y)
        if step % 5 == 0:
            print(f"step {step:3d} loss {loss:.4f}")


if __name__ == "__main__":
    main()
