import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ResidentDigits(Dataset):
    """A small data set that is moved to the device once, at the start."""

    def __init__(self, images, labels, device):
        self.images = images.to(device, non_blocking=True)
        self.labels = labels.to(device, non_blocking=True)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def class_index(self):
        table = {}
        for i, label in enumerate(self.labels.tolist()):
            table.setdefault(label, []).append(i)
        return table


class Trainer:
    def __init__(self, model, lr=0.05):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.best = {}

    def run_epoch(self, loader):
        total = 0.0
        for images, labels in loader:
            loss = nn.functional.cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    def remember(self, epoch, loss):
        if loss < self.best.get("loss", float("inf")):
            self.best["epoch"], self.best["loss"] = epoch, loss


def main(epochs=3):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = ResidentDigits(torch.rand(128, 1, 14, 14), torch.randint(0, 10, (128,)), device)
    trainer = Trainer(nn.Sequential(nn.Flatten(), nn.Linear(196, 64), nn.ReLU(), nn.Linear(64, 10)).to(device))
    for epoch in range(epochs):
        trainer.remember(epoch, trainer.run_epoch(DataLoader(dataset, batch_size=16, shuffle=True)))
    print(sorted((k, len(v)) for k, v in dataset.class_index().items()), trainer.best)


if __name__ == "__main__":
    main()
