from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class KeypointEvaluator:
    def __init__(self, num_keypoints):
        self._num_keypoints = num_keypoints
        self._cpu_device = torch.device("cpu")
        self.reset()

    def reset(self):
        self._predictions = []
        self._targets = []

    def process(self, inputs, outputs):
        self._predictions.append(outputs["coords"].to(self._cpu_device))  # expect: device-move-keeps-graph
        self._targets.append(inputs["coords"].to(self._cpu_device))

    def evaluate(self):
        pred, gt = torch.cat(self._predictions), torch.cat(self._targets)
        dist = (pred - gt).norm(dim=-1)
        return OrderedDict(mpjpe=dist.mean().item(), pck=(dist < 0.5).float().mean().item())


class PoseNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1, self.conv2 = nn.Conv2d(1, 12, 5, padding=2), nn.Conv2d(12, k, 5, padding=2)

    def forward(self, batch):
        heat = self.conv2(F.relu(self.conv1(batch["image"]))).flatten(2).softmax(-1)
        side = batch["image"].size(-1)
        grid = torch.linspace(-1, 1, side, device=heat.device)
        yy, xx = torch.meshgrid(grid, grid, indexing="ij")
        points = torch.stack([xx, yy], -1).view(-1, 2)
        return {"coords": heat @ points}


def inference_on_dataset(model, data_loader, evaluator, device):
    evaluator.reset()
    training = model.training
    model.eval()
    for idx, inputs in enumerate(data_loader):
        inputs = {k: v.to(device) for k, v in inputs.items()}
        outputs = model(inputs)  # also: inference-with-grad
        evaluator.process(inputs, outputs)  # also: device-move-keeps-graph
        if (idx + 1) % 10 == 0:
            print(f"inference done {idx + 1}")
    model.train(training)
    return evaluator.evaluate()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = [{"image": torch.rand(4, 1, 24, 24), "coords": torch.rand(4, 6, 2) * 2 - 1} for _ in range(30)]
    print(dict(inference_on_dataset(PoseNet(6).to(device), loader, KeypointEvaluator(6), device)))


if __name__ == "__main__":
    main()
