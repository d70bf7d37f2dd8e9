#%%
import numpy as np
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
rng = np.random.default_rng(11)

#%%
pixels = rng.integers(0, 256, size=(400, 3, 32, 32), dtype=np.uint8)
labels = torch.from_numpy(pixels[:, 0].mean((1, 2)) > 127.5).long().to(DEVICE)

#%%
backbone = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(),
).to(DEVICE).eval().requires_grad_(False)

#%%
mean, std = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
images = torch.stack([(torch.from_numpy(p).float() / 255 - mean) / std for p in pixels]).to(DEVICE)
with torch.no_grad():
    features = torch.cat([backbone(images[i : i + 50]) for i in range(0, len(images), 50)])
del images
print(features.shape, features.mean().item())

#%%
train_idx, valid_idx = torch.arange(0, 320, device=DEVICE), torch.arange(320, 400, device=DEVICE)


def linear_probe(weight_decay, epochs=8):
    probe = nn.Linear(features.shape[1], 2).to(DEVICE)
    opt = torch.optim.AdamW(probe.parameters(), lr=0.05, weight_decay=weight_decay)
    for _ in range(epochs):
        for rows in train_idx[torch.randperm(len(train_idx), device=DEVICE)].split(64):
            opt.zero_grad()
            nn.functional.cross_entropy(probe(features[rows]), labels[rows]).backward()
            opt.step()
    with torch.no_grad():
        return (probe(features[valid_idx]).argmax(1) == labels[valid_idx]).float().mean().item()


#%%
scores = {wd: linear_probe(wd) for wd in (0.0, 0.01, 0.1)}
scores
