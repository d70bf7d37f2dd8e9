import random

import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, src):
        return self.gru(self.embedding(src))


class Decoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, token, hidden):
        hidden = self.cell(self.embedding(token), hidden)
        return self.out(hidden), hidden


def sequence_loss(encoder, decoder, src, tgt, criterion, teacher_forcing=0.5):
    _, hidden = encoder(src)
    hidden = hidden.squeeze(0)
    token = torch.zeros(src.size(0), dtype=torch.long, device=src.device)
    loss = 0
    for t in range(tgt.size(1)):
        logits, hidden = decoder(token, hidden)
        loss += criterion(logits, tgt[:, t])
        use_teacher = random.random() < teacher_forcing
        token = tgt[:, t] if use_teacher else logits.argmax(-1)
    return loss / tgt.size(1)


def train_iters(n_iters=20, vocab=40, hidden=32, print_every=5):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder, decoder = Encoder(vocab, hidden).to(device), Decoder(vocab, hidden).to(device)
    params = list(encoder.parameters()) + list(decoder.parameters())
    optimizer = torch.optim.Adam(params, lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    print_loss_total = 0
    for it in range(1, n_iters + 1):
        src = torch.randint(0, vocab, (16, 10), device=device)
        tgt = src.flip(1)
        optimizer.zero_grad()
        loss = sequence_loss(encoder, decoder, src, tgt, criterion)
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        print_loss_total += loss.item()
        if it % print_every == 0:
            print(it, print_loss_total / print_every)
            print_loss_total = 0


if __name__ == "__main__":
    train_iters()
