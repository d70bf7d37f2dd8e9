import copy

import torch
import torch.nn as nn


class QNetwork(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=256):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value, self.advantage = nn.Linear(hidden, 1), nn.Linear(hidden, n_actions)

    def forward(self, obs):
        h = self.trunk(obs)
        adv = self.advantage(h)
        return self.value(h) + adv - adv.mean(1, keepdim=True)


class DoubleDQNAgent:
    def __init__(self, obs_dim, n_actions, device, gamma=0.99, sync_every=5):
        self.q_net = QNetwork(obs_dim, n_actions).to(device)
        self.target_net = copy.deepcopy(self.q_net)
        self.target_net.eval()
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=1e-3)
        self.gamma, self.sync_every, self.updates = gamma, sync_every, 0

    def td_loss(self, obs, action, reward, next_obs, done):
        with torch.no_grad():
            best = self.q_net(next_obs).argmax(1, keepdim=True)
        next_q = self.target_net(next_obs).gather(1, best).squeeze(1)  # expect: frozen-model-with-grad
        expected = reward + self.gamma * (1 - done) * next_q
        q = self.q_net(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        return nn.functional.smooth_l1_loss(q, expected)

    def update(self, batch):
        loss = self.td_loss(*batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.q_net.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target_net.load_state_dict(self.q_net.state_dict())
        return loss.item()


def random_batch(n, obs_dim, n_actions, device):
    obs, next_obs = torch.randn(2, n, obs_dim, device=device)
    action = torch.randint(0, n_actions, (n,), device=device)
    return obs, action, (action == 1).float(), next_obs, torch.zeros(n, device=device)


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    agent = DoubleDQNAgent(16, 5, device)
    for i in range(20):
        loss = agent.update(random_batch(128, 16, 5, device))
        if i % 5 == 0:
            print(f"update {i}: td loss {loss:.4f}")
