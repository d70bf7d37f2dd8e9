from collections import deque

import numpy as np
import torch
import torch.nn as nn


class Replay:
    def __init__(self, capacity):
        self.data = deque(maxlen=capacity)

    def push(self, s, a, r, s2):
        self.data.append((s, a, r, s2))

    def sample(self, n, device):
        idx = np.random.randint(0, len(self.data), n)
        s, a, r, s2 = zip(*(self.data[i] for i in idx))
        return (torch.as_tensor(np.stack(s), device=device), torch.as_tensor(a, device=device),
                torch.as_tensor(r, device=device), torch.as_tensor(np.stack(s2), device=device))


def main(steps=60):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    q = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 3)).to(device)
    opt = torch.optim.Adam(q.parameters())
    replay, returns = Replay(500), deque(maxlen=100)
    s = np.random.randn(6).astype(np.float32)
    for step in range(steps):
        with torch.no_grad():
            a = q(torch.as_tensor(s, device=device)).argmax().item()
        s2, r = np.random.randn(6).astype(np.float32), float(a == 0)
        replay.push(s, a, r, s2)
        returns.append(r)
        s = s2
        if len(replay.data) > 16:
            bs, ba, br, bs2 = replay.sample(8, device)
            with torch.no_grad():
                target = br + 0.9 * q(bs2).amax(1)
            loss = nn.functional.smooth_l1_loss(q(bs).gather(1, ba[:, None]).squeeze(1), target.float())
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(sum(returns), loss.item())


if __name__ == "__main__":
    main()
