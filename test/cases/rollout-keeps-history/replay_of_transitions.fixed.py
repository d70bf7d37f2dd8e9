from typing import NamedTuple

import torch
import torch.nn as nn


class Transition(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: float
    value: torch.Tensor


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.storage = []
        self.position = 0

    def push(self, *args):
        if len(self.storage) < self.capacity:
            self.storage.append(None)
        self.storage[self.position] = Transition(*args)
        self.position = (self.position + 1) % self.capacity

    def __len__(self):
        return len(self.storage)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 64), nn.ReLU())
        self.pi, self.v = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return self.pi(h), self.v(h).squeeze(-1)


def main(steps=60):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = ActorCritic().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    replay = Replay(1000)
    obs = torch.randn(1, 6, device=device)
    for step in range(steps):
        logits, value = net(obs)
        action = torch.distributions.Categorical(logits=logits).sample()
        reward = float(action.item() == 0)
        replay.push(obs, action, reward, value.detach())
        loss = (value - reward).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        obs = torch.randn(1, 6, device=device)
    print(len(replay), sum(t.value.item() for t in replay.storage) / len(replay))


if __name__ == "__main__":
    main()
