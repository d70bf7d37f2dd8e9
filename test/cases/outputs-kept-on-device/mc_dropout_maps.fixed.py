import torch
import torch.nn as nn


class LesionNet(nn.Module):
    def __init__(self, width=12, classes=4, p=0.3):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Dropout2d(p), nn.Conv2d(width, width, 3, padding=1), nn.ReLU()
        )
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, scan):
        return self.head(self.body(scan))


class UncertaintyEvaluator:
    """Monte Carlo dropout: several stochastic passes per scan, then entropy and agreement over the cohort."""

    def __init__(self, model: nn.Module, passes: int, device: torch.device):
        self.model = model.to(device)
        self.passes = passes
        self.device = device
        self.probabilities: list[torch.Tensor] = []

    def _stochastic(self, scan: torch.Tensor) -> torch.Tensor:
        draws = []
        for _ in range(self.passes):
            draws.append(self.model(scan).softmax(dim=1))
        return torch.stack(draws)

    @torch.inference_mode()
    def process(self, cohort):
        self.model.train()
        for scan in cohort:
            self.probabilities.append(self._stochastic(scan.to(self.device)).cpu())
        return self

    def summary(self) -> dict:
        every = torch.cat(self.probabilities, dim=1)
        mean = every.mean(0)
        entropy = -(mean * mean.clamp_min(1e-8).log()).sum(1)
        agreement = (every.argmax(2) == mean.argmax(1)).float().mean()
        return {"entropy": entropy.mean().item(), "agreement": agreement.item()}


def make_cohort(batches: int, size: int = 48):
    generator = torch.Generator().manual_seed(3)
    for _ in range(batches):
        yield torch.rand(2, 1, size, size, generator=generator)


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    evaluator = UncertaintyEvaluator(LesionNet(), passes=5, device=device)
    report = evaluator.process(make_cohort(16)).summary()
    for name, value in report.items():
        print(f"{name:10s} {value:.4f}")


if __name__ == "__main__":
    main()
