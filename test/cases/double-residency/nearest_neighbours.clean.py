"""Nearest neighbours with a coarse half-precision table; the full-precision rows re-rank the candidates."""

import argparse

import torch
import torch.nn.functional as F


def make_table(rows, dim, device):
    return torch.randn(rows, dim, device=device)


@torch.no_grad()
def serve(rows, dim, batches, k, device):
    table = F.normalize(make_table(rows, dim, device), dim=1)
    coarse = table.to(torch.bfloat16)
    seen = set()
    for _ in range(batches):
        queries = F.normalize(torch.randn(8, dim, device=device), dim=1)
        candidates = (queries.to(coarse.dtype) @ coarse.T).topk(4 * k, dim=1).indices
        exact = torch.einsum("qd,qcd->qc", queries, table[candidates])
        best = candidates.gather(1, exact.topk(k, dim=1).indices)
        seen.update(best.flatten().tolist())
    return len(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("-k", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(f"{args.rows} rows of {args.dim}")
    print("rows found", serve(args.rows, args.dim, args.batches, args.k, device))


if __name__ == "__main__":
    main()
