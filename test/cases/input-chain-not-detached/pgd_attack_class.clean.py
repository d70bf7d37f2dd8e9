import torch
import torch.nn as nn
import torch.nn.functional as F


def classifier(device):
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)


def mifgsm(model, x, y, eps=0.03, steps=8, decay=1.0):
    x_adv, momentum = x.clone(), torch.zeros_like(x)
    for _ in range(steps):
        x_adv.requires_grad_(True)
        loss = F.cross_entropy(model(x_adv), y)
        grad, = torch.autograd.grad(loss, x_adv)
        momentum = decay * momentum + grad / grad.abs().mean(dim=(1, 2, 3), keepdim=True)
        with torch.no_grad():
            x_adv = x_adv + eps / steps * momentum.sign()
            x_adv = torch.min(torch.max(x_adv, x - eps), x + eps).clamp(0, 1)
    return x_adv


def free_noise(model, x, y, eps=0.03, steps=5):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        F.cross_entropy(model(x + delta), y).backward()
        delta.data = (delta.data + eps * delta.grad.sign()).clamp(-eps, eps)
        delta.grad = None
    return (x + delta).detach()


def dream(model, target, device, steps=20, save_every=5):
    image = torch.rand(1, 3, 8, 8, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([image], lr=0.05)
    frames = []
    for step in range(steps):
        loss = -model(image)[0, target] + 0.01 * image.pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            image.clamp_(0, 1)
        if step % save_every == 0:
            frames.append(image.detach().cpu().clone())
    return frames


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = classifier(device).requires_grad_(False)
    for i in range(4):
        x = torch.rand(16, 3, 8, 8, device=device)
        y = torch.randint(0, 10, (16,), device=device)
        attacked, noised = mifgsm(model, x, y), free_noise(model, x, y)
        print(i, (attacked - x).abs().max().item(), (noised - x).abs().max().item())
    print("frames", len(dream(model, 3, device)))


if __name__ == "__main__":
    main()
