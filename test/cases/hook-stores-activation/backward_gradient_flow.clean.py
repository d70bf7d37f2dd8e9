# %% [markdown]
# How sparse are the activations?

# %%
import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(30, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 4)).to(device)


# %%
def watch(net):
    stats, handles = {}, []
    for name, layer in net.named_children():
        if isinstance(layer, nn.ReLU):

            def on_forward(module, inputs, output, name=name):
                stats.setdefault(name, []).append((output == 0).float().mean().item())

            handles.append(layer.register_forward_hook(on_forward))
    return stats, handles


# %%
def fit(net, steps=20):
    stats, handles = watch(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        x = torch.randn(32, 30, device=device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), x[:, :4].argmax(1))
        loss.backward()
        optimizer.step()
    for handle in handles:
        handle.remove()
    return {name: round(sum(v) / len(v), 3) for name, v in stats.items()}


# %%
print(fit(net))
