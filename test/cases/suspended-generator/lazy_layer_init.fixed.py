from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class SpectrogramSource:
    device: torch.device
    batch: int = 16
    samples: int = 32_000
    n_fft: int = 256

    def batches(self, count):
        window = torch.hann_window(self.n_fft, device=self.device)
        for _ in range(count):
            wave = torch.randn(self.batch, self.samples, device=self.device)
            spec = torch.stft(wave, self.n_fft, window=window, return_complex=True).abs()
            frames = spec.transpose(1, 2).reshape(self.batch, -1, self.n_fft // 2 + 1)
            mel = frames[:, :40].log1p().contiguous()
            yield mel


class Classifier(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.net = nn.Sequential(nn.LazyLinear(48), nn.ReLU(), nn.Linear(48, classes))

    def forward(self, mel):
        return self.net(mel).mean(1)


class Experiment:
    def __init__(self, source, steps=12):
        self.source, self.steps = source, steps
        self.model = Classifier().to(source.device)

    @torch.no_grad()
    def materialise(self, mel):
        self.model(mel)
        return sum(p.numel() for p in self.model.parameters())

    def train_on(self, optimizer, mel):
        target = torch.randint(0, 6, (len(mel),), device=mel.device)
        loss = nn.functional.cross_entropy(self.model(mel), target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    def run(self):
        examples = self.source.batches(self.steps)
        print("parameters:", self.materialise(next(examples)))
        examples.close()
        optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        for step in range(self.steps):
            mel = torch.rand(self.source.batch, 40, self.source.n_fft // 2 + 1, device=self.source.device)
            loss = self.train_on(optimizer, mel)
            if step % 4 == 0:
                print(f"step {step}: {loss:.4f}")


if __name__ == "__main__":
    Experiment(SpectrogramSource(torch.device("cuda" if torch.cuda.is_available() else "cpu"))).run()
