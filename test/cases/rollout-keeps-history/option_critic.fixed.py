import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical


class OptionCritic(nn.Module):
    def __init__(self, obs_dim=10, n_options=4, n_actions=5):
        super().__init__()
        self.state = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.q = nn.Linear(64, n_options)
        self.beta = nn.Linear(64, n_options)
        self.options = nn.ModuleList(nn.Linear(64, n_actions) for _ in range(n_options))


class Runner:
    def __init__(self, device, lr=1e-3, gamma=0.97):
        self.device, self.gamma = device, gamma
        self.agent = OptionCritic().to(device)
        self.optimizer = torch.optim.RMSprop(self.agent.parameters(), lr=lr)
        self.log_probs, self.rewards, self.q_values, self.betas = [], [], [], []

    def play(self, horizon):
        option = 0
        for _ in range(horizon):
            feat = self.agent.state(torch.randn(1, 10, device=self.device))
            q = self.agent.q(feat)
            beta = self.agent.beta(feat).sigmoid()[0, option]
            if Bernoulli(beta.detach()).sample().item() > 0:
                option = q.argmax(1).item()
            dist = Categorical(logits=self.agent.options[option](feat))
            action = dist.sample()
            self.log_probs.append(dist.log_prob(action))
            self.q_values.append(q[:, option])
            self.betas.append(beta.item())
            self.rewards.append(float(action.item() == option))

    def learn(self):
        g, targets = 0.0, []
        for r in reversed(self.rewards):
            g = r + self.gamma * g
            targets.append(g)
        target = torch.tensor(targets[::-1], device=self.device)
        q = torch.cat(self.q_values)
        advantage = target - q.detach()
        loss = -(torch.cat(self.log_probs) * advantage).mean() + 0.5 * (target - q).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs.clear()
        self.q_values.clear()
        self.rewards.clear()
        return loss.item()

    def switch_rate(self, last):
        return sum(float(b) for b in self.betas[-last:]) / last


def main(episodes=12, horizon=20):
    runner = Runner(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for episode in range(episodes):
        runner.play(horizon)
        loss = runner.learn()
        if episode % 4 == 0:
            print(f"{episode:3d} loss {loss:+.3f} switching {runner.switch_rate(horizon):.2f}")


if __name__ == "__main__":
    main()
