import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, obs=8, act=3):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, act))
        self.v = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, 1))


class Worker:
    def __init__(self, actor, device):
        self.actor, self.device = actor, device

    @torch.no_grad()
    def collect(self, horizon):
        storage = {"obs": [], "act": [], "logp": [], "val": [], "rew": []}
        obs = torch.randn(8, device=self.device)
        for _ in range(horizon):
            dist = torch.distributions.Categorical(logits=self.actor.pi(obs))
            act = dist.sample()
            storage["obs"].append(obs.cpu())
            storage["act"].append(act.cpu())
            storage["logp"].append(dist.log_prob(act).cpu())
            storage["val"].append(self.actor.v(obs).squeeze(-1).float().cpu())
            storage["rew"].append(torch.tensor(1.0 if act.item() == 1 else 0.0))
            obs = torch.randn(8, device=self.device)
        return {k: torch.stack(v) for k, v in storage.items()}


def update(actor, optimizer, data, device, clip=0.2):
    data = {k: v.to(device) for k, v in data.items()}
    dist = torch.distributions.Categorical(logits=actor.pi(data["obs"]))
    ratio = (dist.log_prob(data["act"]) - data["logp"]).exp()
    adv = data["rew"] - data["val"]
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
    value_loss = (actor.v(data["obs"]).squeeze(-1) - data["rew"]).pow(2).mean()
    loss = -surrogate + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Actor().to(dev)
    adam = torch.optim.Adam(model.parameters(), lr=3e-4)
    worker = Worker(model, dev)
    for round_ in range(10):
        batch = worker.collect(32)
        print(round_, f"{update(model, adam, batch, dev):+.4f}")
