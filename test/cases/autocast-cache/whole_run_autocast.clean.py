import torch
import torch.nn as nn
import torch.nn.functional as F


class MLPMixerLM(nn.Module):
    def __init__(self, vocab=256, dim=128):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.embed(ids).cumsum(1)
        return self.head(h + self.mix(h))


def batch(size, device):
    ids = (torch.randint(0, 256, (size, 1), device=device) + torch.arange(17, device=device)) % 256
    return ids[:, :-1], ids[:, 1:]


def accumulated_step(model, optimizer, micro_batches, amp, device):
    """One optimizer step over several micro-batches; each forward has a region of its own."""
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for _ in range(micro_batches):
        inputs, targets = batch(8, device)
        with amp:
            loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()) / micro_batches
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@torch.inference_mode()
def generate(model, length, device):
    """The weights stay as they are, so the casts of the first token serve all of them."""
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
        for _ in range(length):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
    return ids[0].tolist()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MLPMixerLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    amp = torch.autocast(device_type=device.type, dtype=torch.bfloat16)
    for step in range(8):
        loss = accumulated_step(model, optimizer, 3, amp, device)
        if step % 4 == 3:
            print(f"step {step}: {loss:.4f}")
    print(generate(model, 6, device))


if __name__ == "__main__":
    main()
