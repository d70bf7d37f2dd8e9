# %% [markdown]
# Motion energy of a clip from dense features

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
def read_clips(n, frames, side):
    for k in range(n):
        g = torch.Generator().manual_seed(100 + k)
        yield k, torch.rand(frames, 3, side, side, generator=g)


def motion_energy(extractor, device, n=8, frames=4, side=96):
    extractor.eval()
    energy = {}
    with torch.no_grad():
        for k, clip in read_clips(n, frames, side):
            x = clip.to(device, non_blocking=True)
            out = extractor(x)  # expect: alive-across-peak
            if out.amax().item() <= 0.0:  # also: alive-across-peak
                print("skipping clip", k)
                continue
            energy[k] = (out.amax(dim=0) - out.amin(dim=0)).mean().item()
    return energy


# %%
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = motion_energy(DenseExtractor().to(device), device)
ranking = sorted(scores, key=scores.get, reverse=True)

# %%
print("clips", len(scores))
print("most motion", ranking[:3])
