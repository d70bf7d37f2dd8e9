import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "state action reward next_state done q_value")


class CartEnv:
    """A stick that drifts; observations are lists of floats."""

    def reset(self):
        self.t, self.obs = 0, [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.obs

    def step(self, action):
        self.t += 1
        push = 0.1 if action == 1 else -0.1
        self.obs = [o + random.gauss(push, 0.05) for o in self.obs]
        failed = abs(self.obs[0]) > 1.0 or self.t >= 30
        return self.obs, 1.0, failed


class QNet(nn.Module):
    def __init__(self, n_obs=4, n_actions=2, hidden=128):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_actions)
        )

    def forward(self, x):
        return self.layers(x)


def select_action(policy_net, state, eps, device):
    q = policy_net(torch.tensor(state, device=device).unsqueeze(0))  # also: rollout-keeps-history
    action = random.randrange(q.shape[1]) if random.random() < eps else q.argmax(1).item()
    return action, q[0, action]


def optimize(policy_net, optimizer, memory, device, batch_size=32, gamma=0.99):
    if len(memory) < batch_size:
        return
    batch = Transition(*zip(*random.sample(memory, batch_size)))
    states = torch.tensor(batch.state, device=device)
    actions = torch.tensor(batch.action, device=device).unsqueeze(1)
    with torch.no_grad():
        best_next = policy_net(torch.tensor(batch.next_state, device=device)).max(1).values
        not_done = 1.0 - torch.tensor(batch.done, dtype=torch.float32, device=device)
        target = torch.tensor(batch.reward, device=device) + gamma * best_next * not_done
    loss = F.smooth_l1_loss(policy_net(states).gather(1, actions).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(episodes=8):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    policy_net, env, memory = QNet().to(device), CartEnv(), deque(maxlen=10_000)
    optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3)
    for episode in range(episodes):
        state, done, length = env.reset(), False, 0
        while not done:
            action, q_value = select_action(policy_net, state, eps=0.2, device=device)
            next_state, reward, done = env.step(action)
            memory.append(Transition(state, action, reward, next_state, done, q_value))  # expect: rollout-keeps-history
            optimize(policy_net, optimizer, memory, device)
            state, length = next_state, length + 1
        mean_q = sum(float(t.q_value) for t in list(memory)[-length:]) / length
        print(f"episode {episode}: {length} steps, mean Q {mean_q:.3f}")


if __name__ == "__main__":
    random.seed(1)
    main()
