import random

import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self, obs: int = 12, hidden: int = 128, actions: int = 3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, actions)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(obs))


@torch.no_grad()
def fitness(policy: Policy, episodes: int, device: torch.device) -> float:
    total = 0.0
    obs = torch.randn(episodes, 12, device=device)
    for _ in range(10):
        action = policy(obs).argmax(dim=-1)
        total += (obs.gather(1, action[:, None]).mean()).item()
        obs = torch.roll(obs, 1, dims=1) * 0.9
    return total


@torch.no_grad()
def mutate(policy: Policy, seed: int, sigma: float) -> None:
    torch.manual_seed(seed)
    for p in policy.parameters():
        p.add_(torch.randn_like(p), alpha=sigma)


def search(generations: int, device: torch.device):
    current = Policy().to(device)
    best_score = fitness(current, 64, device)
    best_weights = {k: v.detach().cpu().clone() for k, v in current.state_dict().items()}
    archive = []
    for generation in range(generations):
        seed = random.randrange(1 << 30)
        mutate(current, seed, 0.05)
        score = fitness(current, 64, device)
        archive.append((generation, score, seed))
        if score > best_score:
            best_score = score
            best_weights = {k: v.detach().cpu().clone() for k, v in current.state_dict().items()}
            print(f"generation {generation}: {score:.3f}")
        else:
            current.load_state_dict(best_weights)
    return sorted(archive, key=lambda entry: entry[1], reverse=True)


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    ranked = search(12, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    print("best generations", [entry[0] for entry in ranked[:3]])
    print("seed of the best", ranked[0][2])
