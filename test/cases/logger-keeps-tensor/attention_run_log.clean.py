"""Keyword spotting; what a step leaves in the log are numbers, and a histogram on the host."""

import json
import logging
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from tqdm import tqdm
except ImportError:

    class tqdm:
        def __init__(self, iterable):
            self.iterable, self.postfix = iterable, ""

        def __iter__(self):
            return iter(self.iterable)

        def set_postfix(self, **values):
            self.postfix = ", ".join(f"{k}={v}" for k, v in values.items())


logger = logging.getLogger("kws")


class KeywordSpotter(nn.Module):
    def __init__(self, n_mels=32, dim=48, words=10):
        super().__init__()
        self.gru = nn.GRU(n_mels, dim, batch_first=True)
        self.classify = nn.Linear(dim, words)

    def forward(self, mels):
        frames, last = self.gru(mels)
        return self.classify(last[0]), frames


def batches(count, size=32):
    return [(torch.randn(size, 60, 32), torch.randint(0, 10, (size,))) for _ in range(count)]


def train(model, data, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    run_log, latest = OrderedDict(), {}
    bar = tqdm(data)
    for step, (mels, words) in enumerate(bar):
        logits, frames = model(mels.to(device))
        loss = F.cross_entropy(logits, words.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss)
        logger.info("step %d loss %.4f", step, loss)
        latest["frames"] = frames.detach().abs().mean((0, 2))
        if step % 2 == 0:
            run_log[step] = {
                "loss": float(loss),
                "activity": torch.histc(frames.detach(), 16, -1, 1).cpu(),
                "shape": frames.shape,
            }
    return run_log, latest


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    log, latest = train(KeywordSpotter().to(device), batches(24), device)
    print(json.dumps({step: round(record["loss"], 3) for step, record in log.items()}))
    print("last activity", latest["frames"].mean().item(), log[0]["activity"].argmax().item())
