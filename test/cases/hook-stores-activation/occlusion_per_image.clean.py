import torch
import torch.nn as nn


class Steering:
    """Adds a direction to the output of a block while a text is generated."""

    def __init__(self, block, direction, strength):
        self.direction, self.strength = direction, strength
        self.handle = block.register_forward_hook(self.apply)
        self.calls = 0

    def apply(self, module, args, output):
        self.calls += 1
        return output + self.strength * self.direction

    def close(self):
        self.handle.remove()


class TinyLM(nn.Module):
    def __init__(self, vocab=80, dim=40):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.block = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.lm_head(self.block(self.embed(ids)).cumsum(1)[:, -1])


@torch.no_grad()
def generate(model, prompt, length, strength):
    direction = nn.functional.normalize(torch.ones(40, device=prompt.device), dim=0)
    steering = Steering(model.block, direction, strength)
    try:
        ids = prompt
        for _ in range(length):
            ids = torch.cat([ids, model(ids).argmax(-1, keepdim=True)], dim=1)
        return ids[0].tolist(), steering.calls
    finally:
        steering.close()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TinyLM().to(device).eval()
    for strength in (0.0, 2.0, -2.0):
        tokens, calls = generate(model, torch.tensor([[1, 2, 3]], device=device), 10, strength)
        print(strength, calls, tokens)
