import torch
import torch.nn as nn
import torch.nn.functional as F


class Critic(nn.Module):
    def __init__(self, obs=24, hidden=400):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(obs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, obs):
        for layer in self.layers[:-1]:
            obs = F.relu(layer(obs))
        return self.layers[-1](obs).squeeze(-1)


def replace_head(critic, device):
    state = critic.state_dict()
    for name in [k for k in state if k.startswith("layers.2.")]:
        del state[name]
    fresh = Critic().to(device)
    missing = fresh.load_state_dict(state, strict=False).missing_keys
    return fresh, missing


def train(critic, obs, returns, steps):
    opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
    value = 0.0
    for _ in range(steps):
        opt.zero_grad(set_to_none=True)
        loss = F.mse_loss(critic(obs), returns)
        loss.backward()
        opt.step()
        value = loss.item()
    return value


def main(device):
    obs = torch.randn(128, 24, device=device)
    batch = {"obs": obs, "returns": obs.pow(2).sum(dim=1), "mask": torch.ones(128, device=device)}
    del batch["mask"]
    critic, missing = replace_head(Critic().to(device), device)
    print("fresh", missing)
    for phase in range(3):
        print(f"phase {phase} loss {train(critic, steps=4, **batch):.4f}")


if __name__ == "__main__":
    torch.manual_seed(9)
    main(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
