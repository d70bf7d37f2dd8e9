import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class CachedVolumes(Dataset):
    def __init__(self, count, device):
        self.count = count
        self.device = device
        self.cache = {}

    def __len__(self):
        return self.count

    def _load(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(1, 32, 32, generator=generator), index % 4

    def __getitem__(self, index):
        if index not in self.cache:
            volume, label = self._load(index)
            self.cache[index] = (volume, torch.tensor(label))
        return self.cache[index]


def main(epochs=2):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(CachedVolumes(128, device), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        seen = 0.0
        for volumes, labels in loader:
            volumes, labels = volumes.to(device), labels.to(device)
            loss = nn.functional.cross_entropy(model(volumes), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += loss.item()
        print(f"epoch {epoch} loss {seen / len(loader):.4f}")


if __name__ == "__main__":
    main()
