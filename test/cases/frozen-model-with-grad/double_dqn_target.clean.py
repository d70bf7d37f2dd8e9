import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, n_out, hidden=64):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_out))


class TD3:
    def __init__(self, obs_dim, act_dim, device):
        self.actor, self.critic = mlp(obs_dim, act_dim).to(device), mlp(obs_dim + act_dim, 1).to(device)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-4)

    @torch.no_grad()
    def bootstrap(self, reward, next_obs):
        next_action = torch.tanh(self.actor_target(next_obs))
        next_action = (next_action + 0.1 * torch.randn_like(next_action)).clamp(-1, 1)
        return reward + 0.99 * self.critic_target(torch.cat([next_obs, next_action], 1))

    @torch.no_grad()
    def soft_update(self, source, target, tau=0.005):
        for p, q in zip(source.parameters(), target.parameters()):
            q.lerp_(p, tau)

    def train_critic(self, obs, action, reward, next_obs):
        target = self.bootstrap(reward, next_obs)
        loss = F.mse_loss(self.critic(torch.cat([obs, action], 1)), target)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss.item()

    def train_actor(self, obs):
        loss = -self.critic(torch.cat([obs, torch.tanh(self.actor(obs))], 1)).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()
        self.soft_update(self.actor, self.actor_target)
        self.soft_update(self.critic, self.critic_target)


def main(steps=30):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = TD3(8, 2, device)
    for t in range(steps):
        obs, next_obs = torch.randn(2, 64, 8, device=device)
        action = torch.rand(64, 2, device=device) * 2 - 1
        loss = agent.train_critic(obs, action, -action.square().sum(1, keepdim=True), next_obs)
        if t % 2:
            agent.train_actor(obs)
        if t % 10 == 0:
            print(t, round(loss, 4))


if __name__ == "__main__":
    main()
