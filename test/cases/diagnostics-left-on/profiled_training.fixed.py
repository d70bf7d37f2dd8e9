import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.across, self.within = nn.Linear(tokens, tokens), nn.Linear(dim, dim)

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + F.gelu(self.within(self.norm2(x)))


class Mixer(nn.Module):
    def __init__(self, tokens=16, dim=32, depth=2, classes=4):
        super().__init__()
        self.blocks = nn.Sequential(*(MixerBlock(tokens, dim) for _ in range(depth)))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))


class Trainer:
    def __init__(self, model, device, lr=1e-3):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def training_step(self, x, y):
        loss = F.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, steps_per_epoch, epochs):
        activities = [ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(ProfilerActivity.CUDA)
        with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=3, repeat=1)) as prof:
            for epoch in range(epochs):
                total = 0.0
                for _ in range(steps_per_epoch):
                    x = torch.randn(8, 16, 32)
                    total += self.training_step(x, x[:, 0, :4].argmax(1))
                    prof.step()
                print(f"epoch {epoch} loss {total / steps_per_epoch:.4f}")
        return prof.key_averages()


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trainer = Trainer(Mixer(), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    averages = trainer.fit(steps_per_epoch=15, epochs=3)
    print(max(averages, key=lambda row: row.count).key)
