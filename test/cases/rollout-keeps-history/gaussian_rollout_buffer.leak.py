import torch
import torch.nn as nn
from torch.distributions import Normal


class RolloutBuffer:
    def __init__(self):
        self.obs, self.actions, self.log_probs, self.rewards = [], [], [], []

    def add(self, obs, action, log_prob, reward):
        self.obs.append(obs)
        self.actions.append(action)
        self.log_probs.append(log_prob)  # expect: rollout-keeps-history
        self.rewards.append(reward)

    def stack(self):
        return torch.stack(self.obs), torch.stack(self.actions), torch.stack(self.log_probs), torch.tensor(self.rewards)


class GaussianPolicy(nn.Module):
    def __init__(self, obs=5, act=2):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, act))
        self.log_std = nn.Parameter(torch.zeros(act))

    def dist(self, obs):
        return Normal(self.mu(obs), self.log_std.exp())


def collect(policy, buffer, horizon, device):
    obs = torch.randn(5, device=device)
    for _ in range(horizon):
        d = policy.dist(obs)
        action = d.sample()
        buffer.add(obs, action, d.log_prob(action).sum(), -action.pow(2).sum().item())  # also: rollout-keeps-history
        obs = torch.randn(5, device=device)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    policy = GaussianPolicy().to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    buffer = RolloutBuffer()
    for update in range(4):
        collect(policy, buffer, 32, device)
        obs, actions, old, rewards = buffer.stack()
        adv = (rewards - rewards.mean()).to(device)
        for _ in range(3):
            ratio = (policy.dist(obs).log_prob(actions).sum(-1) - old.detach()).exp()
            loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(update, loss.item(), len(buffer.obs))


if __name__ == "__main__":
    main()
