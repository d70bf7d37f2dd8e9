#%%
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(11)

#%%
images = torch.rand(400, 3, 32, 32, device=DEVICE)
labels = (images[:, 0].mean((1, 2)) > 0.5).long()

#%%
backbone = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(),
).to(DEVICE).eval().requires_grad_(False)


@torch.no_grad()
def embed(batch_size=50):
    return torch.cat([backbone(images[i : i + batch_size]) for i in range(0, len(images), batch_size)])


#%%
features = embed()
features.shape, features.mean().item()

#%%
probe = nn.Linear(features.shape[1], 2).to(DEVICE)
opt = torch.optim.AdamW(probe.parameters(), lr=0.05)


def one_epoch():
    total = 0.0
    for rows in torch.randperm(320, device=DEVICE).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(probe(features[rows]), labels[rows])
        loss.backward()
        opt.step()
        total += loss.item()
    return total


#%%
[round(one_epoch(), 4) for _ in range(6)]

#%%
with torch.no_grad():
    wrong = probe(features[320:]).argmax(1) != labels[320:]

#%%
# the images that are misclassified, for a look at them
hard = images[320:][wrong].mean((2, 3)).cpu()
print(len(hard), "hard images", hard.shape)
