"""Keyword spotting with attention pooling; a run log for the notebook that draws the figures."""

import json
import time
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionPooling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, 1)

    def forward(self, frames):
        weights = self.query(torch.tanh(frames)).softmax(dim=1)
        return (weights * frames).sum(1), weights.squeeze(-1)


class KeywordSpotter(nn.Module):
    def __init__(self, n_mels=32, dim=48, words=10):
        super().__init__()
        self.gru = nn.GRU(n_mels, dim, batch_first=True)
        self.pool = AttentionPooling(dim)
        self.classify = nn.Linear(dim, words)

    def forward(self, mels):
        frames, _ = self.gru(mels)
        pooled, weights = self.pool(frames)
        return self.classify(pooled), weights


def batches(count, size=32, frames=100):
    for _ in range(count):
        words = torch.randint(0, 10, (size,))
        mels = torch.randn(size, frames, 32)
        mels[torch.arange(size), :, words] += 1.0
        yield mels, words


def train(model, data, device, log_every=1):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    run_log = OrderedDict()
    started = time.perf_counter()
    for step, (mels, words) in enumerate(data):
        mels, words = mels.to(device), words.to(device)
        logits, attention = model(mels)
        loss = F.cross_entropy(logits, words)
        optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0).item()
        optimizer.step()
        if step % log_every:
            continue
        run_log[step] = {
            "loss": loss.item(),
            "grad_norm": grad_norm,
            "attention": attention.detach().cpu(),
            "seconds": time.perf_counter() - started,
        }
    return run_log


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    log = train(KeywordSpotter().to(device), batches(40), device)
    peaks = {step: record["attention"].argmax(1).float().mean().item() for step, record in log.items()}
    print(json.dumps({step: round(peak, 2) for step, peak in list(peaks.items())[::10]}))
    print("loss", round(log[0]["loss"], 4), "->", round(log[39]["loss"], 4))
