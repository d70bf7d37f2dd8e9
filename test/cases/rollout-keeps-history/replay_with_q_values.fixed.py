import random
from collections import deque

import torch
import torch.nn as nn


class QNet(nn.Module):
    def __init__(self, obs=8, actions=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 128), nn.ReLU(), nn.Linear(128, actions))

    def forward(self, x):
        return self.net(x)


def main(steps=80):
    torch.manual_seed(0)
    random.seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    qnet = QNet().to(device)
    optimizer = torch.optim.Adam(qnet.parameters(), lr=1e-3)
    memory = deque(maxlen=10000)
    state = torch.randn(8, device=device)
    for step in range(steps):
        q = qnet(state)
        action = random.randrange(4) if random.random() < 0.2 else q.argmax().item()
        next_state = torch.randn(8, device=device)
        reward = float(action == 2)
        memory.append((state, action, reward, next_state, q.detach()))
        state = next_state
        if len(memory) >= 16:
            batch = random.sample(memory, 8)
            states = torch.stack([b[0] for b in batch])
            target = torch.tensor([b[2] for b in batch], device=device) + 0.9 * torch.stack([b[4].detach() for b in batch]).amax(1)
            picked = qnet(states).gather(1, torch.tensor([[b[1]] for b in batch], device=device)).squeeze(1)
            loss = nn.functional.mse_loss(picked, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(len(memory), loss.item())


if __name__ == "__main__":
    main()
