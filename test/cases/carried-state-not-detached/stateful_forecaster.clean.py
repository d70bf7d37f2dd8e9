import torch
from torch import nn


class Controller(nn.Module):
    def __init__(self, obs=5, hidden=32, act=2):
        super().__init__()
        self.cell = nn.GRUCell(obs, hidden)
        self.act = nn.Linear(hidden, act)
        self.hidden = hidden

    def initial_state(self, batch):
        return next(self.parameters()).new_zeros(batch, self.hidden)

    def forward(self, obs, h):
        h = self.cell(obs, h)
        return torch.tanh(self.act(h)), h


def dynamics(state, action):
    pos, vel = state[:, :2], state[:, 2:4]
    vel = 0.95 * vel + 0.1 * action
    pos = pos + vel
    return torch.cat([pos, vel, pos.norm(dim=1, keepdim=True)], dim=1)


def rollout_cost(controller, start, horizon):
    state, h = start, controller.initial_state(len(start))
    cost = 0.0
    for _ in range(horizon):
        action, h = controller(state, h)
        state = dynamics(state, action)
        cost = cost + state[:, :2].pow(2).sum(1).mean() + 0.01 * action.pow(2).mean()
    return cost / horizon


def train(device, iterations=15, horizon=12, batch=32):
    controller = Controller().to(device)
    optimizer = torch.optim.Adam(controller.parameters(), lr=5e-3)
    for it in range(iterations):
        start = torch.zeros(batch, 5, device=device)
        start[:, :2] = torch.randn(batch, 2, device=device)
        start[:, 4] = start[:, :2].norm(dim=1)
        cost = rollout_cost(controller, start, horizon)
        optimizer.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(controller.parameters(), 10.0)
        optimizer.step()
        if it % 5 == 0:
            print(f"iteration {it} cost {cost.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
