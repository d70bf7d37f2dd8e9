import argparse

import torch
import torch.nn as nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--length", type=int, default=128)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(1000, 32), nn.Linear(32, 1000)).to(device)
    model.eval()
    nll = 0.0
    count = 0
    with torch.inference_mode():
        for _ in range(args.batches):
            ids = torch.randint(0, 1000, (8, args.length)).to(device)
            logits = model(ids)
            nll += nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="sum").item()
            count += ids[:, 1:].numel()
            del logits, ids
    print("ppl", torch.tensor(nll / count).exp().item())


if __name__ == "__main__":
    main()
