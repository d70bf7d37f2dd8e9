"""Frame posteriors of an acoustic model, written to an archive for the decoder."""

import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class TDNN(nn.Module):
    def __init__(self, n_mels=40, width=64, phones=120):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(n_mels, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, width, 5, padding=4, dilation=2), nn.ReLU()
        )
        self.output = nn.Linear(width, phones)

    def forward(self, feats):
        return self.output(self.layers(feats.transpose(1, 2)).transpose(1, 2))


def read_utterances(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        yield f"spk{n % 5}-utt{n:03d}", torch.from_numpy(rng.standard_normal((180, 40), dtype=np.float32))


def frame_log_probs(model, feats):
    return F.log_softmax(model(feats.unsqueeze(0)), dim=-1).squeeze(0)


@torch.no_grad()
def compute_posteriors(model, utterances, priors, device):
    model.eval()
    posteriors = {}
    for key, feats in utterances:
        posteriors[key] = frame_log_probs(model, feats.to(device)) - priors  # expect: outputs-kept-on-device
    return posteriors


def write_archive(path, posteriors):
    np.savez(path, **{key: value.cpu().numpy() for key, value in posteriors.items()})
    return os.path.getsize(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--utterances", type=int, default=30)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    log_priors = torch.full((120,), 1 / 120, device=device).log()
    archive = compute_posteriors(TDNN().to(device), read_utterances(args.utterances), log_priors, device)
    with tempfile.TemporaryDirectory() as folder:
        size = write_archive(os.path.join(folder, "posteriors.npz"), archive)
    print(len(archive), "utterances,", size // 1024, "KiB")
