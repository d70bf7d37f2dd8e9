import functools
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def collecting(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with torch.inference_mode():
            return fn(*args, **kwargs)

    return wrapper


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=8, n_actions=6):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU())
        self.pi, self.v = nn.Linear(64, n_actions), nn.Linear(64, 1)

    def forward(self, obs):
        h = self.torso(obs)
        return self.pi(h), self.v(h).squeeze(-1)


class Storage:
    def __init__(self):
        self.items = []

    def push(self, **fields):
        self.items.append(fields)

    def stacked(self, name):
        return torch.cat([item[name] for item in self.items])

    def reset(self):
        self.items.clear()


@collecting
def rollout(model, storage, obs, length):
    total = 0.0
    for _ in range(length):
        logits, value = model(obs)
        action = torch.multinomial(logits.softmax(-1), 1).squeeze(-1)
        reward = (action == 2).float()
        storage.push(obs=obs, action=action, reward=reward, value=value)
        total += reward.sum().item()
        obs = torch.randn_like(obs)
    return obs, total


def learn(model, optimizer, storage):
    obs, action, reward, old_value = (storage.stacked(k).clone() for k in ("obs", "action", "reward", "value"))
    logits, value = model(obs)
    logp = F.log_softmax(logits, -1).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = -(logp * (reward - old_value)).mean() + 0.5 * F.mse_loss(value, reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    storage.reset()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, storage = ActorCritic().to(device), Storage()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=7e-4)
    obs, scores = torch.randn(8, 8, device=device), deque(maxlen=100)
    for _ in range(12):
        obs, score = rollout(model, storage, obs, length=16)
        scores.append(score)
        learn(model, optimizer, storage)
    print("mean score", sum(scores) / len(scores))
