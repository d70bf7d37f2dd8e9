"""Masked-token pre-training on random text, with a clean-up every few hundred steps."""

import gc

import torch
import torch.nn as nn
import torch.nn.functional as F

MASK = 0


class MaskedLM(nn.Module):
    def __init__(self, vocab=120, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, labels):
        scores = self.head(self.block(self.embed(ids)))
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=-100)


def mask_tokens(ids, p=0.15):
    chosen = torch.rand(ids.shape, device=ids.device) < p
    chosen[:, 0] = True
    return ids.masked_fill(chosen, MASK), ids.masked_fill(~chosen, -100)


def train(model, optimizer, dataset, device, epochs=2, log_every=8, free_every=256):
    model.train()
    for epoch in range(epochs):
        running = 0.0
        for step, ids in enumerate(dataset, start=1):
            loss = model(*mask_tokens(ids.to(device)))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
            if free_every and step % free_every == 0:
                gc.collect()
                torch.cuda.empty_cache()
            if step % log_every == 0:
                print(f"epoch {epoch} step {step} loss {running / step:.3f}")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = [torch.randint(1, 120, (8, 16)) for _ in range(16)]
    model = MaskedLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    train(model, optimizer, dataset, device)
    print("finished")


if __name__ == "__main__":
    main()
