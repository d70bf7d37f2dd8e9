import torch
import torch.nn as nn
from torch.distributions import Categorical


class A2C:
    def __init__(self, device):
        self.device = device
        self.net = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 3)).to(device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.trajectory = {"logp": [], "reward": [], "entropy": []}

    def act(self, obs):
        out = self.net(obs)
        dist = Categorical(logits=out)
        a = dist.sample()
        self.trajectory["logp"].append(dist.log_prob(a))
        self.trajectory["entropy"].append(dist.entropy().detach())
        return a.item()

    def learn(self):
        rewards = torch.tensor(self.trajectory["reward"], device=self.device)
        logp = torch.cat(self.trajectory["logp"])
        loss = -(logp * (rewards - rewards.mean())).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.trajectory["logp"] = []
        self.trajectory["reward"] = []
        return loss.item()


def main():
    torch.manual_seed(0)
    agent = A2C(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for episode in range(8):
        for _ in range(25):
            action = agent.act(torch.randn(1, 4, device=agent.device))
            agent.trajectory["reward"].append(1.0 if action == 0 else -0.1)
        print(episode, agent.learn())
    print("decisions", len(agent.trajectory["entropy"]))


if __name__ == "__main__":
    main()
