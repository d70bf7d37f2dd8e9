# %% [markdown]
# Flicker between neighbouring clips: each clip's features are compared with those of the clip before

# %%
import torch
import torch.nn as nn


class DenseExtractor(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 5, padding=2)
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, frames):
        return self.mix(torch.relu_(self.stem(frames)))


# %%
def read_frames(n, side):
    for k in range(n):
        g = torch.Generator().manual_seed(100 + k)
        yield k, torch.rand(1, 3, side, side, generator=g)


def flicker(extractor, device, n=8, side=96):
    extractor.eval()
    energy = {}
    previous = None
    with torch.no_grad():
        for k, frame in read_frames(n, side):
            out = extractor(frame.to(device, non_blocking=True))
            if previous is not None:
                energy[k] = (out - previous).abs_().mean().item()
            previous = out
    return energy


# %%
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = flicker(DenseExtractor().to(device), device)
ranking = sorted(scores, key=scores.get, reverse=True)

# %%
print("pairs", len(scores))
print("most flicker", ranking[:3])
