import sys; sys.path.insert(0,'/tmp/cw')
from nb import nb
head=[('md','# Next-token model on a toy corpus\nFirst a look at what an untrained model says, then a short training.'),
('code','''%matplotlib inline
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0);'''),
('code','''corpus = torch.randint(0, 512, (64, 33), device=device)
corpus[:, 1::2] = corpus[:, ::2][:, :16]
inputs, targets = corpus[:, :-1], corpus[:, 1:]
inputs.shape'''),
('code','''class CausalLM(nn.Module):
    def __init__(self, vocab=512, dim=64, heads=4, layers=2):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab, dim), nn.Embedding(64, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, ids):
        steps = torch.arange(ids.shape[1], device=ids.device)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1]).to(ids.device)
        return self.lm_head(self.blocks(self.token(ids) + self.position(steps), mask=mask))


model = CausalLM().to(device)
sum(p.numel() for p in model.parameters())''')]
tail=[('code','''def train(epochs, batch_size=16):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    curve = []
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs), device=device).split(batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs[rows]).flatten(0, 1), targets[rows].flatten())
            loss.backward()
            optimizer.step()
            curve.append(loss.item())
    return curve'''),
('code','''curve = train(6)
print(f"perplexity {math.exp(curve[0]):.1f} -> {math.exp(curve[-1]):.1f}")'''),
('code','''with torch.no_grad():
    accuracy = (model(inputs).argmax(-1) == targets).float().mean().item()
accuracy''')]
nb('first_look_logits.leak.ipynb',head+[('code','model(inputs)  # expect: notebook-global')]+tail)
nb('first_look_logits.fixed.ipynb',head+[('code','model(inputs);')]+tail)
nb('first_look_logits.clean.ipynb',[('md','# Attention maps of a small classifier'),
('code','''%load_ext autoreload
%autoreload 2
!nvidia-smi || true
import matplotlib_inline.backend_inline as backend  # noqa: F401'''.split('import matplotlib')[0].rstrip()),
('code','''import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1);'''),
('code','''def show(number):
    """Where the last token of a sequence looks."""
    weights = attention_maps[number, -1]
    return [round(w, 3) for w in weights.topk(3).values.tolist()], weights.topk(3).indices.tolist()'''),
('code','''sequences = torch.randn(256, 48, 32, device=device)
labels = (sequences.mean((1, 2)) > 0).long()
labels.float().mean().item()'''),
('code','''class Pooler(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.classify = nn.Linear(dim, 2)

    def forward(self, x, with_maps=False):
        mixed, maps = self.attention(x, x, x, need_weights=with_maps)
        logits = self.classify(mixed.mean(1))
        return (logits, maps) if with_maps else logits


model = Pooler().to(device)
model(sequences[:4]).shape'''),
('code','''optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def run_epoch():
    total = 0.0
    for rows in torch.randperm(len(labels), device=device).split(64):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(sequences[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


losses = [run_epoch() for _ in range(4)]
losses[-1]'''),
('code','''with torch.no_grad():
    logits, attention_maps = model(sequences, with_maps=True)
hits = (logits.argmax(1) == labels).sum().item()
del logits
hits'''),
('code','show(3)'),
('code','''model.eval()
with torch.no_grad():
    confident = model(sequences).softmax(1).max(1).values.mean().item()
print(f"confidence {confident:.3f}")''')])
