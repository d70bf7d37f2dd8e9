import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, heads=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 48), nn.GELU())
        self.heads = nn.ModuleList([nn.Linear(48, 2) for _ in range(heads)])

    def forward(self, x):
        z = self.encoder(x)
        return [head(z) for head in self.heads]


def grad_norms(model, losses):
    norms = []
    for i, loss in enumerate(losses):
        model.zero_grad()
        loss.backward(retain_graph=i < len(losses) - 1)
        norms.append(model.encoder[0].weight.grad.norm().item())
    return norms


def main(steps=12):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MultiHead().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        x = torch.randn(64, 16, device=device)
        outs = model(x)
        losses = [nn.functional.cross_entropy(o, (x[:, k] > 0).long()) for k, o in enumerate(outs)]
        if step % 4 == 0:
            weights = grad_norms(model, losses)
            losses = [nn.functional.cross_entropy(o, (x[:, k] > 0).long()) for k, o in enumerate(model(x))]
            print(step, [round(w, 3) for w in weights])
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
