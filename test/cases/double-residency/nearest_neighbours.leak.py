"""Nearest neighbours of a stream of queries in a table of half-precision vectors."""

import argparse

import torch
import torch.nn.functional as F


def make_table(rows, dim, device):
    return torch.randn(rows, dim, device=device)


def neighbours(queries, table, k):
    scores = queries.to(table.dtype) @ table.T
    return scores.topk(k, dim=1).indices.cpu()


@torch.no_grad()
def serve(rows, dim, batches, k, device):
    table = make_table(rows, dim, device)
    unit_table = F.normalize(table, dim=1).to(torch.bfloat16)  # expect: double-residency
    seen = set()
    for _ in range(batches):
        queries = F.normalize(torch.randn(8, dim, device=device), dim=1)
        found = neighbours(queries, unit_table, k)
        seen.update(found.flatten().tolist())
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
