import torch
import torch.nn as nn
from torch.distributions import Normal


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.obs, self.actions, self.logprobs, self.rewards, self.values = [], [], [], [], []

    def add(self, obs, action, logprob, reward, value):
        self.obs.append(obs)
        self.actions.append(action)
        self.logprobs.append(logprob)
        self.rewards.append(reward)
        self.values.append(value)  # expect: rollout-keeps-history

    def tensors(self):
        return (torch.stack(x).flatten(0, 1) for x in (self.obs, self.actions, self.logprobs, self.values))


class Agent(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def dist(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    def act(self, obs):
        with torch.no_grad():
            dist = self.dist(obs)
            action = dist.sample()
            logprob = dist.log_prob(action).sum(-1)
        value = self.critic(obs).squeeze(-1)  # also: rollout-keeps-history
        return action, logprob, value


def collect(agent, buffer, obs, horizon):
    for _ in range(horizon):
        action, logprob, value = agent.act(obs)
        reward = 1.0 - action.pow(2).mean().item()
        buffer.add(obs, action, logprob, reward, value)
        obs = 0.9 * obs + 0.1 * torch.randn_like(obs)
    return obs


def update(agent, optimizer, buffer, epochs=3, clip=0.2):
    obs, actions, old_logprobs, old_values = buffer.tensors()
    returns = torch.tensor(buffer.rewards, device=obs.device).flip(0).cumsum(0).flip(0)
    returns = returns.repeat_interleave(obs.size(0) // len(returns))
    advantage = returns - old_values.detach()
    for _ in range(epochs):
        ratio = (agent.dist(obs).log_prob(actions).sum(-1) - old_logprobs).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
        loss = -surrogate.mean() + 0.5 * (agent.critic(obs).squeeze(-1) - returns).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    buffer.clear()
    return loss.item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent, buffer = Agent(10, 3).to(device), RolloutBuffer()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
    obs = torch.randn(16, 10, device=device)
    for i in range(5):
        obs = collect(agent, buffer, obs, horizon=32)
        print(f"update {i} loss {update(agent, optimizer, buffer):.4f}")
