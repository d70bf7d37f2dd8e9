import torch
import torch.nn as nn
from torch.distributions import Normal


class EpisodeMemory:
    def __init__(self):
        self.clear()

    def push(self, log_prob, value, reward):
        self.log_probs.append(log_prob)
        self.values.append(value)
        self.rewards.append(reward)

    def clear(self):
        self.log_probs, self.values, self.rewards = [], [], []

    def __len__(self):
        return len(self.rewards)


class GaussianAgent:
    def __init__(self, device):
        self.actor = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
        self.critic = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=1e-3)
        self.memory = EpisodeMemory()

    def act(self, state):
        mean, log_std = self.actor(state).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-2, 1).exp())
        action = dist.sample()
        self.memory.push(dist.log_prob(action).sum(-1), self.critic(state).squeeze(-1), -action.pow(2).sum(-1))
        return action

    def update(self):
        rewards = torch.stack(self.memory.rewards)
        returns = rewards.flip(0).cumsum(0).flip(0)
        values = torch.stack(self.memory.values)
        advantage = returns - values
        loss = -(torch.stack(self.memory.log_probs) * advantage.detach()).mean() + advantage.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.memory.clear()
        return loss.item()


def main(episodes=6):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = GaussianAgent(device)
    for episode in range(episodes):
        for _ in range(15):
            agent.act(torch.randn(8, 5, device=device))
        print(episode, len(agent.memory), round(agent.update(), 4))


if __name__ == "__main__":
    main()
