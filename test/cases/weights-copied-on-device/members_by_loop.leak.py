import torch
import torch.nn as nn


class SnapshotEnsemble:
    def __init__(self, model):
        self.model = model
        self.members = []

    def take(self):
        state = {}
        for name, value in self.model.state_dict().items():
            state[name] = value.detach().clone()
        self.members.append(state)  # expect: weights-copied-on-device

    @torch.no_grad()
    def predict(self, x):
        total = 0.0
        for state in self.members:
            total = total + torch.func.functional_call(self.model, state, (x,)).softmax(1)
        return total / len(self.members)


def main(cycles=5, steps=10):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(24, 256), nn.ReLU(), nn.Linear(256, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, steps)
    ensemble = SnapshotEnsemble(model)
    for cycle in range(cycles):
        for _ in range(steps):
            x = torch.randn(64, 24, device=device)
            loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        ensemble.take()
    x = torch.randn(64, 24, device=device)
    print((ensemble.predict(x).argmax(1) == x[:, :3].argmax(1)).float().mean().item())


if __name__ == "__main__":
    main()
