# %% [markdown]
# Which layers receive a gradient?

# %%
import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_net(depth=6, width=96):
    layers = [nn.Linear(20, width), nn.Sigmoid()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.Sigmoid()]
    return nn.Sequential(*layers, nn.Linear(width, 3))


# %%
def watch_gradients(net):
    flow, handles = {}, []
    for name, layer in net.named_children():
        if not isinstance(layer, nn.Linear):
            continue
        flow[name] = []

        def on_backward(module, grad_input, grad_output, name=name):
            flow[name].append(grad_output[0])  # expect: hook-stores-activation

        handles.append(layer.register_full_backward_hook(on_backward))
    return flow, handles


def report(flow):
    return "  ".join(f"{name}:{torch.as_tensor(grads[-1]).abs().mean().item():.1e}" for name, grads in flow.items())


# %%
def fit(net, steps=18, batch=64):
    flow, handles = watch_gradients(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(steps):
        x = torch.randn(batch, 20, device=device)
        target = x[:, :3].argmax(1)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        if step % 6 == 0:
            print(f"{step:3d} {loss.item():.4f} {report(flow)}")
    for handle in handles:
        handle.remove()
    return loss.item()


# %%
print("last loss", fit(make_net().to(device)))
