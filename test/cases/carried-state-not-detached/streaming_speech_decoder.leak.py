import queue
import threading

import torch
import torch.nn as nn

VOCAB = "_abcdefghijklmnopqrstuvwxyz "


class StreamingASR(nn.Module):
    def __init__(self, n_mels=40, hidden=64):
        super().__init__()
        self.conv = nn.Conv1d(n_mels, hidden, 3, stride=2, padding=1)
        self.cells = nn.ModuleList([nn.LSTMCell(hidden, hidden) for _ in range(2)])
        self.out = nn.Linear(hidden, len(VOCAB))

    def init_state(self, batch, device):
        zeros = lambda: torch.zeros(batch, self.out.in_features, device=device)
        return [(zeros(), zeros()) for _ in self.cells]

    def step(self, chunk, state):
        frames = torch.relu(self.conv(chunk)).unbind(-1)
        outputs = []
        for x in frames:
            updated = []
            for cell, (h, c) in zip(self.cells, state):
                x, c = cell(x, (h, c))
                updated.append((x, c))
            state = updated
            outputs.append(self.out(x))
        return torch.stack(outputs, 1), state


def microphone(q, chunks, n_mels=40):
    generator = torch.Generator().manual_seed(2)
    for _ in range(chunks):
        q.put(torch.randn(1, n_mels, 16, generator=generator))
    q.put(None)


def collapse(ids):
    text, last = [], None
    for i in ids:
        if i != last and i != 0:
            text.append(VOCAB[i])
        last = i
    return "".join(text)


def transcribe(model, q, device):
    model.eval()
    state = model.init_state(1, device)
    ids = []
    while True:
        chunk = q.get()
        if chunk is None:
            break
        logits, state = model.step(chunk.to(device), state)  # expect: carried-state-not-detached
        ids.extend(logits.argmax(-1).flatten().tolist())
    return collapse(ids)


if __name__ == "__main__":
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    audio = queue.Queue(maxsize=4)
    feeder = threading.Thread(target=microphone, args=(audio, 40), daemon=True)
    feeder.start()
    print("hypothesis:", transcribe(StreamingASR().to(dev), audio, dev)[:60])
    feeder.join()
