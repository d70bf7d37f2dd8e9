import numpy as np
import torch
import torch.nn as nn


class LesionNet(nn.Module):
    def __init__(self, width=12, classes=4, p=0.3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Dropout2d(p))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, scan):
        return self.head(self.body(scan))


class VolumeSegmenter:
    """Slices of one volume go through the model in batches; the label map is filled on the host."""

    def __init__(self, model, device, passes=4):
        self.model = model.to(device)
        self.device = device
        self.passes = passes

    def _average(self, slices):
        total = torch.zeros(len(slices), 4, *slices.shape[-2:], device=self.device)
        for _ in range(self.passes):
            total += self.model(slices).softmax(dim=1)
        return total / self.passes

    @torch.no_grad()
    def segment(self, volume, batch_size=4):
        self.model.train()
        labels = np.empty((len(volume), *volume.shape[-2:]), dtype=np.uint8)
        doubts = []
        for start in range(0, len(volume), batch_size):
            slices = volume[start : start + batch_size].to(self.device)
            confidence, winner = self._average(slices).max(dim=1)
            labels[start : start + len(slices)] = winner.to(torch.uint8).cpu().numpy()
            doubts.extend((confidence < 0.3).float().mean(dim=(1, 2)).tolist())
        return labels, doubts


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    segmenter = VolumeSegmenter(LesionNet(), device)
    for patient in range(3):
        labels, doubts = segmenter.segment(torch.rand(24, 1, 40, 40))
        share = np.bincount(labels.ravel(), minlength=4) / labels.size
        print(patient, share.round(3), "doubtful", round(sum(doubts) / len(doubts), 3))


if __name__ == "__main__":
    main()
