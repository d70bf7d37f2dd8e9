import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule


class Mixer(nn.Module):
    def __init__(self, tokens=16, dim=32, classes=4):
        super().__init__()
        self.across, self.within = nn.Linear(tokens, tokens), nn.Linear(dim, dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = x + self.across(x.transpose(1, 2)).transpose(1, 2)
        return self.head((x + F.gelu(self.within(x))).mean(1))


def step(model, optimizer, device):
    x = torch.randn(8, 16, 32, device=device)
    loss = F.cross_entropy(model(x), x[:, 0, :4].argmax(1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def slowest_of_one_step(model, optimizer, device):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        step(model, optimizer, device)
    return prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=1).count("\n")


def train(model, optimizer, device, steps, on_trace):
    plan = schedule(wait=2, warmup=1, active=2, repeat=1)
    total = 0.0
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=on_trace) as prof:
        for _ in range(steps):
            total += step(model, optimizer, device)
            prof.step()
    return total / steps


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Mixer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    print("lines of the first table", slowest_of_one_step(model, optimizer, device))
    traces = []
    loss = train(model, optimizer, device, 30, lambda prof: traces.append(len(prof.key_averages())))
    print(f"loss {loss:.4f}, operations per trace {traces}")


if __name__ == "__main__":
    main()
