import torch
import torch.nn as nn
import torch.nn.functional as F

LOG = []


def log_metrics(step, metrics):
    LOG.append((step, metrics))
    if step % 10 == 0:
        print(step, f"{metrics['loss']:.4f}")


class Detector(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.ReLU())
        self.heat = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        return self.heat(self.body(x)).sigmoid()


def main(steps=24):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Detector().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(steps):
        images = torch.rand(4, 3, 40, 40, device=device)
        heatmap = net(images)
        loss = F.binary_cross_entropy(heatmap, (images.mean(1, keepdim=True) > 0.5).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log_metrics(step, {"loss": loss.item(), "heatmap": heatmap.detach().mean().item()})


if __name__ == "__main__":
    main()
