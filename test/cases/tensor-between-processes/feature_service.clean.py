"""Workers in processes get texts and send back plain numbers; tensors do not leave the process that made them."""

import torch
import torch.multiprocessing as mp
from torch import nn


def encoder(dim):
    torch.manual_seed(0)
    return nn.Sequential(nn.EmbeddingBag(256, 64), nn.GELU(), nn.Linear(64, dim))


def serve(requests, results):
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = encoder(16).to(device).eval()
    with torch.inference_mode():
        while (request := requests.get()) is not None:
            key, text = request
            ids = torch.tensor([list(text.encode())], device=device)
            features = model(ids).squeeze(0)
            results.put((key, features.cpu().numpy().tolist(), features.norm().item()))
    results.put(None)


def main():
    context = mp.get_context("spawn" if torch.cuda.is_available() else "fork")
    requests, results = context.Queue(), context.Queue()
    worker = context.Process(target=serve, args=(requests, results))
    worker.start()
    for number, text in enumerate(["a short text", "another one", "and the last"] * 4):
        requests.put((number, text))
    requests.put(None)
    norms = []
    while (answer := results.get()) is not None:
        key, vector, norm = answer
        norms.append(norm)
    worker.join()
    print(len(norms), "answers of", len(vector), "numbers, mean norm", round(sum(norms) / len(norms), 4))


if __name__ == "__main__":
    main()
