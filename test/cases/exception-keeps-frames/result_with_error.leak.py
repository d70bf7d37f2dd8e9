import torch
import torch.nn as nn


class Result:
    def __init__(self, config, score=None, error=None):
        self.config = config
        self.score = score
        self.error = error


def objective(config, device):
    net = nn.Sequential(nn.Linear(32, config["hidden"]), nn.Tanh(), nn.Linear(config["hidden"], 4)).to(device)
    x = torch.randn(config["batch"], 32, device=device)
    logits = net(x)
    if config["batch"] > 100:
        raise MemoryError(f"batch {config['batch']} does not fit")
    return logits.softmax(1).amax(1).mean().item()


def run_one(config, device):
    try:
        return Result(config, score=objective(config, device))
    except MemoryError as error:
        return Result(config, error=error)  # expect: exception-keeps-frames


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    results = []
    for hidden in (64, 256):
        for batch in (32, 128, 256):
            results.append(run_one({"hidden": hidden, "batch": batch}, device))
    for r in results:
        print(r.config, r.score if r.error is None else str(r.error))


if __name__ == "__main__":
    main()
