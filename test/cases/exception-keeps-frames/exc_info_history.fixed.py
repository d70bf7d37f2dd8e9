import sys

import torch
import torch.nn as nn

history = []


def evaluate(model, x):
    h = model[:2](x)
    if not torch.isfinite(h).all():
        raise FloatingPointError("non-finite activations")
    return model[2](h).mean().item()


def safe_evaluate(model, x):
    try:
        return evaluate(model, x)
    except FloatingPointError:
        history.append(sys.exc_info()[:1] + (str(sys.exc_info()[1]),))
        return float("nan")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(device)
    for step in range(12):
        x = torch.randn(128, 64, device=device)
        if step % 3 == 0:
            x[0, 0] = float("inf")
        value = safe_evaluate(model, x)
        print(step, value)
    print("errors:", len(history), [str(info[1]) for info in history[:1]])


if __name__ == "__main__":
    main()
