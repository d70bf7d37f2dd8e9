import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ReplayBuffer:
    def __init__(self, capacity):
        self.storage = deque(maxlen=capacity)

    def push(self, *transition):
        self.storage.append(transition)

    def sample(self, n, device):
        columns = zip(*random.sample(self.storage, n))
        return [torch.as_tensor(np.stack(c), dtype=torch.float32, device=device) for c in columns]


def mlp(n_in, n_out, final=nn.Identity):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, n_out), final())


class DDPG:
    def __init__(self, obs_dim, act_dim, device):
        self.device = device
        self.actor, self.critic = mlp(obs_dim, act_dim, nn.Tanh).to(device), mlp(obs_dim + act_dim, 1).to(device)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def act(self, obs, noise=0.1):
        with torch.no_grad():
            action = self.actor(torch.as_tensor(obs, dtype=torch.float32, device=self.device))
        action = action.cpu().numpy()
        return np.clip(action + noise * np.random.randn(*action.shape), -1, 1)

    def update(self, obs, act, rew, nxt):
        with torch.no_grad():
            target = rew.unsqueeze(1) + 0.98 * self.critic(torch.cat([nxt, self.actor(nxt)], 1))
        critic_loss = F.mse_loss(self.critic(torch.cat([obs, act], 1)), target)
        self.opt_critic.zero_grad()
        critic_loss.backward()
        self.opt_critic.step()

        actor_loss = -self.critic(torch.cat([obs, self.actor(obs)], 1)).mean()
        self.opt_actor.zero_grad()
        actor_loss.backward()
        self.opt_actor.step()
        return critic_loss.item(), actor_loss.item()


def main(steps=120):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent, memory, losses = DDPG(6, 2, device), ReplayBuffer(5000), []
    obs = np.random.randn(6)
    for t in range(steps):
        act = agent.act(obs)
        nxt = 0.9 * obs + 0.1 * np.random.randn(6)
        memory.push(obs, act, -float(np.square(obs[:2] - act).sum()), nxt)
        obs = nxt
        if t < 64:
            continue
        losses.append(agent.update(*memory.sample(32, device)))
    print("critic, actor:", np.mean(losses, axis=0).round(4))


if __name__ == "__main__":
    main()
