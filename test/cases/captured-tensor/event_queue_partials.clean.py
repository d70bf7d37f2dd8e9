from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Callbacks:
    def __init__(self):
        self.handlers = {"step": [], "end": []}

    def on(self, event, fn, *args, **kwargs):
        self.handlers[event].append(partial(fn, *args, **kwargs))

    def fire(self, event, *args):
        for handler in self.handlers[event]:
            handler(*args)


def log_every(n, step, loss):
    if step % n == 0:
        print(f"step {step} loss {loss:.4f}")


def build_criteria(class_weights):
    weighted = partial(F.cross_entropy, weight=class_weights)
    return {
        "plain": F.cross_entropy,
        "weighted": weighted,
        "smoothed": partial(weighted, label_smoothing=0.1),
    }


def step(model, optimizer, criterion, x, y):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(steps=24):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    criteria = build_criteria(torch.tensor([1.0, 2.0, 0.5], device=device))
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    callbacks, milestones = Callbacks(), []
    callbacks.on("step", log_every, 6)
    callbacks.on("end", print, "done after", steps, "steps")
    for number in range(steps):
        x = torch.randn(32, 10, device=device)
        loss = step(model, optimizer, criteria["smoothed"], x, x[:, :3].argmax(1))
        callbacks.fire("step", number, loss)
        if number % 8 == 0:
            milestones.append(lambda loss=loss, number=number: f"{number}={loss:.3f}")
    callbacks.fire("end")
    print([text() for text in milestones])


if __name__ == "__main__":
    main()
