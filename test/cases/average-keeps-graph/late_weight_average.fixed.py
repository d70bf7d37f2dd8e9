import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.gru = nn.GRU(4, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1]).squeeze(-1)


def run(steps=40, start=10):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    model = Forecaster().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    average, count = None, 0
    for step in range(steps):
        x = torch.randn(32, 10, 4, device=device)
        y = x[:, -1, 0]
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step < start:
            continue
        count += 1
        if average is None:
            average = [p.detach().clone() for p in model.parameters()]
        else:
            for i, p in enumerate(model.parameters()):
                average[i] = average[i] + (p.detach() - average[i]) / count
        if step % 10 == 0:
            print(f"step {step}: {loss.item():.4f}")
    with torch.no_grad():
        for p, a in zip(model.parameters(), average):
            p.copy_(a)
    return model


if __name__ == "__main__":
    run()
