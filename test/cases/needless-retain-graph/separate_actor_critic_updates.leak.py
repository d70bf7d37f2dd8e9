from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Batch = namedtuple("Batch", "obs action reward next_obs done")


def mlp(sizes, act=nn.ReLU):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1])] + ([act()] if i < len(sizes) - 2 else [])
    return nn.Sequential(*layers)


class Agent:
    def __init__(self, obs_dim, act_dim, device, gamma=0.99):
        self.critic = mlp([obs_dim + act_dim, 256, 256, 1]).to(device)
        self.actor = mlp([obs_dim, 256, 256, act_dim]).to(device)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-4)
        self.gamma = gamma

    def q(self, obs, action):
        return self.critic(torch.cat([obs, action], dim=-1)).squeeze(-1)

    def update_critic(self, batch):
        with torch.no_grad():
            next_action = torch.tanh(self.actor(batch.next_obs))
            target = batch.reward + self.gamma * (1 - batch.done) * self.q(batch.next_obs, next_action)
        return F.mse_loss(self.q(batch.obs, batch.action), target)

    def learn(self, batch):
        critic_loss = self.update_critic(batch)
        self.critic_opt.zero_grad()
        critic_loss.backward(retain_graph=True)  # expect: needless-retain-graph
        self.critic_opt.step()

        for p in self.critic.parameters():
            p.requires_grad_(False)
        actor_loss = -self.q(batch.obs, torch.tanh(self.actor(batch.obs))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        for p in self.critic.parameters():
            p.requires_grad_(True)
        return critic_loss.item(), actor_loss.item()


def sample(n, device):
    done = (torch.rand(n, device=device) < 0.05).float()
    return Batch(torch.randn(n, 11, device=device), torch.rand(n, 3, device=device) * 2 - 1,
                 torch.randn(n, device=device), torch.randn(n, 11, device=device), done)


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = Agent(11, 3, dev)
    for it in range(20):
        losses = agent.learn(sample(1024, dev))
        if it % 5 == 0:
            print(it, "critic %.3f actor %.3f" % losses)
