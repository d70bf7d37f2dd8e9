"""Score a small super-resolution network on synthetic tiles."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TileUpscaler(nn.Module):
    def __init__(self, scale: int = 4, width: int = 8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, 3 * scale * scale, 3, padding=1),
        )
        self.shuffle = nn.PixelShuffle(scale)

    def forward(self, tile):
        return self.shuffle(self.body(tile))


def tiles(count: int, side: int, device: torch.device):
    for seed in range(count):
        generator = torch.Generator(device="cpu").manual_seed(seed)
        yield torch.rand(1, 3, side, side, generator=generator).to(device)


@torch.inference_mode()
def psnr(net: nn.Module, count: int, side: int, scale: int, device: torch.device) -> float:
    net.eval()
    total = 0.0
    for hr in tiles(count, side, device):
        lr = F.avg_pool2d(hr, scale)
        sr = net(lr)
        mse = (sr - hr).square_().mean().item()
        total += -10.0 * math.log10(mse + 1e-12)
        del hr, lr, sr
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiles", type=int, default=12)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--scale", type=int, default=4)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    net = TileUpscaler(args.scale).to(device)
    print(f"{args.tiles} tiles of {args.side} px")
    print(f"PSNR {psnr(net, args.tiles, args.side, args.scale, device):.2f} dB")


if __name__ == "__main__":
    main()
