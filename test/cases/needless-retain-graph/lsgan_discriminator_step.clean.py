import torch
import torch.nn as nn
import torch.nn.functional as F


class Shared(nn.Module):
    def __init__(self, dim=32, width=96):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, 6)
        self.value = nn.Linear(width, 1)

    def forward(self, x):
        z = self.trunk(x)
        return self.policy(z), self.value(z).squeeze(-1)


def grad_cosine(a, b):
    flat = [torch.cat([g.flatten() for g in gs]) for gs in (a, b)]
    return F.cosine_similarity(*flat, dim=0).item()


def main(steps=30):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Shared().to(device)
    trunk = list(net.trunk.parameters())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    conflicts = 0
    for step in range(steps):
        obs = torch.randn(64, 32, device=device)
        action = torch.randint(0, 6, (64,), device=device)
        target = obs.mean(1)
        logits, value = net(obs)
        policy_loss = F.cross_entropy(logits, action)
        value_loss = F.mse_loss(value, target)
        if step % 10 == 0:
            gp = torch.autograd.grad(policy_loss, trunk, retain_graph=True)
            gv = torch.autograd.grad(value_loss, trunk, retain_graph=True)
            cosine = grad_cosine(gp, gv)
            conflicts += cosine < 0
            print(f"{step:3d} cosine {cosine:+.3f}")
        optimizer.zero_grad()
        policy_loss.backward(retain_graph=True)
        nn.utils.clip_grad_norm_(trunk, 0.5)
        value_loss.backward()
        optimizer.step()
    print("conflicts", conflicts, "policy", policy_loss.item(), "value", value_loss.item())


if __name__ == "__main__":
    main()
