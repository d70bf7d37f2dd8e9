import math

import torch
import torch.nn as nn


class Node:
    """A node knows its children; the way back is the path that the search took."""

    __slots__ = ("state", "prior", "children", "visits", "total")

    def __init__(self, state, prior):
        self.state, self.prior = state, prior
        self.children = {}
        self.visits, self.total = 0, 0.0

    def best(self):
        def score(child):
            mean = child.total / child.visits if child.visits else 0.0
            return mean + 1.5 * child.prior * math.sqrt(self.visits) / (1 + child.visits)

        return max(self.children.values(), key=score)


class WorldModel(nn.Module):
    def __init__(self, latent=256, actions=4):
        super().__init__()
        self.actions = actions
        self.dynamics = nn.Linear(latent + actions, latent)
        self.policy, self.value = nn.Linear(latent, actions), nn.Linear(latent, 1)
        self.activation = torch.tanh

    def step(self, state):
        every = torch.eye(self.actions, device=state.device)
        nexts = self.activation(self.dynamics(torch.cat([state.expand(self.actions, -1), every], dim=1)))
        return [row.clone() for row in nexts], self.policy(state).softmax(-1).tolist(), self.value(state).item()


class Search:
    def __init__(self, model, simulations):
        self.model, self.simulations = model, simulations
        self.evaluated = 0

    @torch.no_grad()
    def __call__(self, observation):
        root = Node(observation, 1.0)
        for _ in range(self.simulations):
            path = [root]
            while path[-1].children:
                path.append(path[-1].best())
            states, priors, value = self.model.step(path[-1].state)
            for action, (state, prior) in enumerate(zip(states, priors)):
                path[-1].children[action] = Node(state, prior)
            for node in path:
                node.visits += 1
                node.total += value
            self.evaluated += 1
        return max(root.children, key=lambda action: root.children[action].visits)


def main(moves=12):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    search = Search(WorldModel().to(device).eval(), simulations=10)
    observation = torch.zeros(256, device=device)
    actions = []
    for _ in range(moves):
        actions.append(search(observation))
        observation = observation.roll(1)
        observation[0] = float(actions[-1])
    print("moves", actions, "evaluated", search.evaluated)


if __name__ == "__main__":
    main()
