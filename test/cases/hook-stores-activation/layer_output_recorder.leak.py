from functools import partial

import torch
import torch.nn as nn


class EncoderLayer(nn.Module):
    def __init__(self, d_model=48, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, 96), nn.GELU(), nn.Linear(96, d_model))
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab=100, d_model=48, depth=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList([EncoderLayer(d_model) for _ in range(depth)])
        self.out = nn.Linear(d_model, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


class Recorder:
    def __init__(self, encoder):
        self.outputs = {i: [] for i in range(len(encoder.layers))}
        for i, layer in enumerate(encoder.layers):
            layer.register_forward_hook(partial(self._save, i))

    def _save(self, index, module, args, output):
        self.outputs[index].append(output)  # expect: hook-stores-activation

    def norms(self):
        return [round(float(torch.as_tensor(out[-1]).norm()), 3) for out in self.outputs.values()]


def train_step(model, optimizer, ids):
    logits = model(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=16):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Encoder().to(device)
    recorder = Recorder(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        ids = torch.randint(0, 100, (8, 25), device=device)
        loss = train_step(model, optimizer, ids)
        if step % 5 == 0:
            print(step, round(loss, 4), recorder.norms())


if __name__ == "__main__":
    main()
