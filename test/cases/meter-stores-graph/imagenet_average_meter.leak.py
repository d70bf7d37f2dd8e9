import argparse
import time

import torch
import torch.nn as nn


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n  # also: meter-stores-graph
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1)
        hits = pred.eq(target.view(-1, 1))
        return [hits[:, :k].any(1).float().mean().item() * 100 for k in topk]


def train(loader, model, criterion, optimizer, epoch, device, print_freq):
    batch_time = AverageMeter("Time", ":6.3f")
    losses = AverageMeter("Loss", ":.4f")
    top1, top5 = AverageMeter("Acc@1", ":6.2f"), AverageMeter("Acc@5", ":6.2f")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        images, target = images.to(device), target.to(device)
        output = model(images)
        loss = criterion(output, target)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss, images.size(0))  # expect: meter-stores-graph
        top1.update(acc1, images.size(0))
        top5.update(acc5, images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
        if i % print_freq == 0:
            print(f"Epoch [{epoch}][{i}/{len(loader)}]", batch_time, losses, top1, top5, sep="\t")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", default=1, type=int)
    parser.add_argument("-p", "--print-freq", default=15, type=int)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    loader = [(torch.randn(16, 3, 16, 16), torch.randint(0, 10, (16,))) for _ in range(60)]
    for epoch in range(args.epochs):
        train(loader, model, nn.CrossEntropyLoss().to(device), optimizer, epoch, device, args.print_freq)


if __name__ == "__main__":
    main()
