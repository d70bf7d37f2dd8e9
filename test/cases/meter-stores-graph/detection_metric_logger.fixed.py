from collections import defaultdict, deque

import torch
from torch import nn


class SmoothedValue:
    def __init__(self, window_size=20, fmt="{avg:.4f}"):
        self.recent = deque(maxlen=window_size)
        self.total, self.count, self.fmt = 0.0, 0, fmt

    def update(self, value, n=1):
        self.recent.append(float(value))
        self.count += n
        self.total = self.total + value * n

    @property
    def global_avg(self):
        return float(self.total) / self.count

    def __str__(self):
        return self.fmt.format(avg=sum(self.recent) / len(self.recent))


class MetricLogger:
    def __init__(self, delimiter="  "):
        self.meters = defaultdict(SmoothedValue)
        self.delimiter = delimiter

    def update(self, **kwargs):
        for key, v in kwargs.items():
            self.meters[key].update(v)

    def log_every(self, iterable, print_freq, header=""):
        for i, obj in enumerate(iterable):
            yield obj
            if i % print_freq == 0:
                print(header, i, self.delimiter.join(f"{k}: {m}" for k, m in self.meters.items()))


class Detector(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.ReLU())
        self.cls, self.box = nn.Conv2d(16, classes, 1), nn.Conv2d(16, 4, 1)

    def forward(self, images, targets):
        f = self.body(images)
        return {
            "loss_classifier": nn.functional.cross_entropy(self.cls(f), targets["labels"]),
            "loss_box_reg": nn.functional.smooth_l1_loss(self.box(f), targets["boxes"]),
        }


def train_one_epoch(model, optimizer, data_loader, device, epoch):
    model.train()
    metric_logger = MetricLogger()
    for images, targets in metric_logger.log_every(data_loader, 20, f"Epoch: [{epoch}]"):
        images = images.to(device)
        loss_dict = model(images, {k: v.to(device) for k, v in targets.items()})
        losses = sum(loss for loss in loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        metric_logger.update(loss=losses.item(), lr=optimizer.param_groups[0]["lr"])
    return metric_logger.meters["loss"].global_avg


def fake_coco(n):
    for _ in range(n):
        yield torch.randn(2, 3, 32, 32), {"labels": torch.randint(0, 5, (2, 8, 8)), "boxes": torch.rand(2, 4, 8, 8)}


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Detector().to(dev)
    sgd = torch.optim.SGD(net.parameters(), lr=0.02)
    for e in range(1):
        print("mean", train_one_epoch(net, sgd, fake_coco(60), dev, e))
