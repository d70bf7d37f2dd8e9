import torch
import torch.nn as nn
import torch.nn.functional as F


def pretext_net(dim=64, hidden=512):
    return nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, dim))


def probe_epoch(head, optimizer, x, y):
    total = 0.0
    for xb, yb in zip(x.split(32), y.split(32)):
        loss = F.cross_entropy(head(xb), yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(2)
    x = torch.randn(256, 64, device=device)
    y = (x[:, :4].sum(1) > 0).long()

    model = pretext_net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(10):
        noisy = x + 0.1 * torch.randn_like(x)
        loss = F.mse_loss(model(noisy), x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print(f"denoising loss {loss.item():.4f}")
    with torch.no_grad():
        codes = model(x)
    del model, optimizer, loss, noisy

    head = nn.Linear(64, 2).to(device)
    head_optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for epoch in range(5):
        print(f"probe epoch {epoch} loss {probe_epoch(head, head_optimizer, codes, y):.4f}")


if __name__ == "__main__":
    main()
