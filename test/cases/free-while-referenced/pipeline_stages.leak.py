"""Two stages on one device: an image pipeline and then a captioner."""

import gc

import torch
from torch import nn


def free_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


class Denoiser(nn.Module):
    def __init__(self, channels: int = 48):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.out = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, t: float) -> torch.Tensor:
        return self.out(self.net(x) * (1.0 - t))


class Captioner(nn.Module):
    def __init__(self, vocab: int = 64, width: int = 32):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.cell = nn.GRUCell(48, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, image: torch.Tensor, length: int) -> list[int]:
        code = self.pool(image).flatten(1)
        state = torch.zeros(len(image), self.cell.hidden_size, device=image.device)
        words = []
        for _ in range(length):
            state = self.cell(code, state)
            words.append(int(self.head(state).argmax(dim=-1)[0]))
        return words


@torch.inference_mode()
def run(device: torch.device, steps: int = 4, side: int = 96) -> list[int]:
    denoiser = Denoiser().to(device).eval()
    latents = torch.randn(1, 3, side, side, device=device)
    features = denoiser.net(latents)  # tolerated
    print(f"initial activation {features.abs().mean().item():.4f}")
    for i in range(steps):
        latents = latents - 0.1 * denoiser(latents, i / steps)
    image = latents.clamp(-1, 1)
    denoiser = None
    free_memory()  # expect: free-while-referenced

    captioner = Captioner().to(device).eval()
    return captioner(image, 6)


if __name__ == "__main__":
    torch.manual_seed(3)
    print("caption", run(torch.device("cuda" if torch.cuda.is_available() else "cpu")))
