import math

import torch
import torch.nn as nn


class Node:
    def __init__(self, state, prior):
        self.state, self.prior = state, prior
        self.parent = None
        self.children = {}
        self.visits, self.total = 0, 0.0

    def expand(self, states, priors):
        for action, (state, prior) in enumerate(zip(states, priors)):
            child = Node(state, prior)
            child.parent = self  # expect: reference-cycle
            self.children[action] = child  # also: reference-cycle

    def score(self):
        mean = self.total / self.visits if self.visits else 0.0
        return mean + 1.5 * self.prior * math.sqrt(self.parent.visits) / (1 + self.visits)

    def backup(self, value):
        node = self
        while node is not None:
            node.visits += 1
            node.total += value
            node = node.parent


class WorldModel(nn.Module):
    def __init__(self, latent=512, actions=4):
        super().__init__()
        self.actions = actions
        self.dynamics = nn.Linear(latent + actions, latent)
        self.policy, self.value = nn.Linear(latent, actions), nn.Linear(latent, 1)

    def step(self, state):
        every = torch.eye(self.actions, device=state.device)
        nexts = torch.tanh(self.dynamics(torch.cat([state.expand(self.actions, -1), every], dim=1)))
        return [row.clone() for row in nexts], self.policy(state).softmax(-1).tolist(), self.value(state).item()


@torch.no_grad()
def search(model, observation, simulations):
    root = Node(observation, 1.0)
    for _ in range(simulations):
        node = root
        while node.children:
            node = max(node.children.values(), key=Node.score)
        states, priors, value = model.step(node.state)
        node.expand(states, priors)
        node.backup(value)
    return max(root.children, key=lambda action: root.children[action].visits)


def play(model, moves, simulations, device):
    observation = torch.zeros(512, device=device)
    actions = []
    for _ in range(moves):
        actions.append(search(model, observation, simulations))
        observation = observation.roll(1)
        observation[0] = float(actions[-1])
    return actions


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("moves", play(WorldModel().to(device).eval(), 14, 12, device))
