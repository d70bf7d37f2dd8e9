import torch
import torch.nn as nn
from torch import autograd


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def hessian_vector_product(loss_fn, params, v):
    grads = autograd.grad(loss_fn(), params, create_graph=True)
    return flat(autograd.grad(flat(grads) @ v, params))


def top_eigenvalue(loss_fn, params, iterations=12):
    v = torch.randn(sum(p.numel() for p in params), device=params[0].device)
    v /= v.norm()
    eigenvalue = 0.0
    for _ in range(iterations):
        hv = hessian_vector_product(loss_fn, params, v)
        eigenvalue = (hv @ v).item()
        v = hv / (hv.norm() + 1e-12)
    return eigenvalue


def r1_penalty(discriminator, real):
    real = real.requires_grad_(True)
    (gradient,) = autograd.grad(outputs=discriminator(real).sum(), inputs=real, create_graph=True, retain_graph=True)
    return gradient.flatten(1).square().sum(1).mean()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 1)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    x = torch.randn(128, 12, device=device)
    y = x[:, :1].sign()
    for step in range(15):
        optimizer.zero_grad()
        loss = nn.functional.soft_margin_loss(net(x), y) + 0.01 * r1_penalty(net, torch.randn(32, 12, device=device))
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            sharpness = top_eigenvalue(lambda: nn.functional.soft_margin_loss(net(x), y), list(net.parameters()))
            print(f"{step}: loss {loss.item():.4f} sharpness {sharpness:.4f}")


if __name__ == "__main__":
    main()
