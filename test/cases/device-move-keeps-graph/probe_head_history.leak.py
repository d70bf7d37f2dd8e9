from typing import Dict, List

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    def __init__(self, d_in: int = 30, d: int = 80):
        super().__init__()
        self.l1, self.l2 = nn.Linear(d_in, d), nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.l2(torch.tanh(self.l1(x))))


class SequenceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(80, 3)
        self.uncertainty = nn.Sequential(nn.Linear(80, 40), nn.Softplus(), nn.Linear(40, 1))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        z = self.encoder(x)
        return {"logits": self.head(z), "sigma": self.uncertainty(z).squeeze(-1)}


def warmup(model: nn.Module, batches: List, optimizer: torch.optim.Optimizer, device: torch.device, limit: float):
    sigmas: Dict[int, Tensor] = {}
    accepted = 0
    for step, (x, y) in enumerate(batches):
        x, y = x.to(device), y.to(device)
        out = model(x)
        sigma = out["sigma"].float().to("cpu", non_blocking=True)
        sigmas[step] = sigma  # expect: device-move-keeps-graph
        weight = torch.sigmoid(-sigma.detach()).to(device)
        if weight.mean().item() < limit:
            continue
        loss = (weight * nn.functional.cross_entropy(out["logits"], y, reduction="none")).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        accepted += 1
    return sigmas, accepted


def main() -> None:
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SequenceModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = [(torch.randn(48, 30), torch.randint(0, 3, (48,))) for _ in range(50)]
    sigmas, accepted = warmup(model, batches, optimizer, device, limit=0.2)
    spread = {s: round(v.std().item(), 4) for s, v in sigmas.items() if s % 10 == 0}
    print("accepted", accepted, "spread", spread)


if __name__ == "__main__":
    main()
