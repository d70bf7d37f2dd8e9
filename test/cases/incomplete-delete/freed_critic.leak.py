import torch
import torch.nn as nn
import torch.nn.functional as F


class Critic(nn.Module):
    def __init__(self, obs=24, hidden=400):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(obs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, obs):
        for layer in self.layers[:-1]:
            obs = F.relu(layer(obs))
        return self.layers[-1](obs).squeeze(-1)


class ValueWrapper:
    """Scales observations before the critic sees them."""

    def __init__(self, critic, scale):
        self.critic, self.scale = critic, scale

    def values(self, obs):
        return self.critic(obs * self.scale)


def pretrain_then_clone(device, steps=8):
    obs = torch.randn(128, 24, device=device)
    returns = obs.pow(2).sum(dim=1)
    critic = Critic().to(device)
    wrapper = ValueWrapper(critic, 0.5)
    weights = [p for p in critic.parameters() if p.ndim > 1]
    opt = torch.optim.Adam([{"params": weights, "weight_decay": 1e-4}], lr=1e-3)
    for _ in range(steps):
        opt.zero_grad(set_to_none=True)
        F.mse_loss(wrapper.values(obs), returns).backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        opt.step()
    with torch.no_grad():
        advantage = returns - wrapper.values(obs)
    print(f"advantage spread {advantage.std().item():.3f}")
    del critic, opt  # expect: incomplete-delete

    actor = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 4)).to(device)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.05)
    for step in range(12):
        dist = torch.distributions.Categorical(logits=actor(obs))
        action = dist.sample()
        objective = -(dist.log_prob(action) * advantage).mean()
        actor_opt.zero_grad(set_to_none=True)
        objective.backward()
        actor_opt.step()
        if step % 4 == 0:
            print(f"step {step} objective {objective.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(9)
    pretrain_then_clone(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
