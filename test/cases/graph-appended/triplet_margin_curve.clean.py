import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianPolicy(nn.Module):
    def __init__(self, obs_dim=6, act_dim=2):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, act_dim))
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def forward(self, obs):
        return Normal(self.mu(obs), self.log_std.exp())


class PointEnv:
    def __init__(self, device):
        self.device = device

    def reset(self):
        self.pos, self.t = torch.randn(2, device=self.device), 0
        return self._obs()

    def _obs(self):
        return torch.cat([self.pos, self.pos.abs(), self.pos.sign()])

    def step(self, action):
        self.pos = self.pos + 0.1 * action
        self.t += 1
        return self._obs(), -self.pos.norm().item(), self.t >= 20


def reinforce(policy, env, optimizer, episodes=15, gamma=0.98):
    lengths = []
    for episode in range(episodes):
        log_probs, rewards = [], []
        obs, done = env.reset(), False
        while not done:
            dist = policy(obs)
            action = dist.sample()
            log_probs.append(dist.log_prob(action).sum())
            obs, reward, done = env.step(action)
            rewards.append(reward)
        returns, g = [], 0.0
        for r in reversed(rewards):
            g = r + gamma * g
            returns.insert(0, g)
        terms = []
        for lp, ret in zip(log_probs, returns):
            terms.append(-lp * ret)
        optimizer.zero_grad()
        torch.stack(terms).sum().backward()
        optimizer.step()
        lengths.append(len(rewards))
        if episode % 5 == 0:
            print(episode, round(sum(rewards), 3))
    print("mean length", sum(lengths) / len(lengths))


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = GaussianPolicy().to(dev)
    reinforce(net, PointEnv(dev), torch.optim.Adam(net.parameters(), lr=1e-2))
