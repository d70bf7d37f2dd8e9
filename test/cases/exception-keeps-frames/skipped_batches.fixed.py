import torch
import torch.nn as nn
import torch.nn.functional as F


class Detector(nn.Module):
    def __init__(self, anchors=9):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.score = nn.Conv2d(16, anchors, 1)

    def forward(self, images, boxes):
        feats = self.backbone(images)
        heat = self.score(feats)
        if not boxes:
            raise ValueError(f"no boxes in a batch of {len(images)} images")
        target = torch.zeros_like(heat)
        for anchor, row, col in boxes:
            target[:, anchor, row, col] = 1.0
        return F.binary_cross_entropy_with_logits(heat, target)


def train_epoch(detector, optimizer, batches, device):
    skipped = []
    total, steps = 0.0, 0
    for index, (images, boxes) in enumerate(batches):
        optimizer.zero_grad(set_to_none=True)
        try:
            loss = detector(images.to(device), boxes)
            loss.backward()
        except ValueError as err:
            skipped.append({"batch": index, "reason": str(err)})
            continue
        optimizer.step()
        total += loss.item()
        steps += 1
    for entry in skipped:
        print(f"batch {entry['batch']}: {entry['reason']}")
    return total / max(steps, 1)


def annotated_batches(count):
    for k in range(count):
        boxes = [] if k % 3 == 1 else [(k % 9, 4 + k, 8), (0, 10, 10)]
        yield torch.rand(2, 3, 48, 48), boxes


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    detector = Detector().to(device)
    optimizer = torch.optim.SGD(detector.parameters(), lr=0.1, momentum=0.9)
    mean = train_epoch(detector, optimizer, annotated_batches(15), device)
    print(f"mean loss {mean:.4f}")


if __name__ == "__main__":
    main()
