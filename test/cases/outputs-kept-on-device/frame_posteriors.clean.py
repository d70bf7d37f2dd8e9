"""Greedy phone decoding: what stays is a string and a few numbers per utterance."""

import argparse
from itertools import groupby, islice

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BLANK = 0


class TDNN(nn.Module):
    def __init__(self, n_mels=40, width=64, phones=60):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(n_mels, width, 5, padding=2), nn.ReLU())
        self.output = nn.Linear(width, phones)

    def forward(self, feats):
        return self.output(self.layers(feats.transpose(1, 2)).transpose(1, 2))


def read_utterances(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        yield f"utt{n:03d}", torch.from_numpy(rng.standard_normal((150, 40), dtype=np.float32))


def estimate_mean(utterances, device, frames_from=4):
    """Mean of the features, from the first few utterances."""
    first = []
    for _, feats in islice(utterances, frames_from):
        first.append(feats.to(device))
    return torch.cat(first).mean(0)


@torch.inference_mode()
def decode(model, utterances, mean, device):
    model.eval()
    hypotheses, confidences = {}, []
    frame_counts = torch.zeros(60, dtype=torch.long, device=device)
    for key, feats in utterances:
        probs = F.softmax(model((feats.to(device) - mean).unsqueeze(0)), dim=-1)
        best, phones = probs.max(dim=-1)
        frame_counts += torch.bincount(phones.flatten(), minlength=60)
        confidences.append(best.mean())
        hypotheses[key] = [p for p, _ in groupby(phones[0].tolist()) if p != BLANK]
    return hypotheses, torch.stack(confidences).mean().item(), frame_counts.cpu()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--utterances", type=int, default=25)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    mean = estimate_mean(read_utterances(args.utterances), device)
    hyps, confidence, counts = decode(TDNN().to(device), read_utterances(args.utterances), mean, device)
    print("first", hyps["utt000"][:8], "confidence", round(confidence, 4), "phones used", int((counts > 0).sum()))
