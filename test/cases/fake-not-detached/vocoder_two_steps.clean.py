import torch
import torch.nn as nn
import torch.nn.functional as F


class ReverseGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None


class DomainAdversarial(nn.Module):
    def __init__(self, n_in=40, n_hidden=64, n_class=5):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_hidden), nn.ReLU())
        self.label_head = nn.Linear(n_hidden, n_class)
        self.discriminator = nn.Sequential(nn.Linear(n_hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, source, target, weight):
        z_source, z_target = self.encoder(source), self.encoder(target)
        z = torch.cat([z_source, z_target])
        return self.label_head(z_source), self.discriminator(ReverseGrad.apply(z, weight)).squeeze(-1)


def step(model, opt_features, opt_disc, batch, weight):
    xs, ys, xt = batch
    logits, domain = model(xs, xt, weight)
    is_target = torch.cat([torch.zeros(len(xs)), torch.ones(len(xt))]).to(xs.device)
    loss_cls = F.cross_entropy(logits, ys)
    loss_dom = F.binary_cross_entropy_with_logits(domain, is_target)
    for opt in (opt_features, opt_disc):
        opt.zero_grad(set_to_none=True)
    (loss_cls + loss_dom).backward()
    for opt in (opt_features, opt_disc):
        opt.step()
    return loss_cls.item(), loss_dom.item()


def main(steps=20):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = DomainAdversarial().to(device)
    opt_features = torch.optim.SGD([*model.encoder.parameters(), *model.label_head.parameters()], lr=0.05, momentum=0.9)
    opt_disc = torch.optim.SGD(model.discriminator.parameters(), lr=0.05, momentum=0.9)
    for i in range(steps):
        batch = (
            torch.randn(32, 40, device=device),
            torch.randint(0, 5, (32,), device=device),
            torch.randn(32, 40, device=device) + 0.5,
        )
        cls, dom = step(model, opt_features, opt_disc, batch, weight=min(1.0, i / steps))
        if i % 5 == 0:
            print(f"{i}: label {cls:.3f} domain {dom:.3f}")


if __name__ == "__main__":
    main()
