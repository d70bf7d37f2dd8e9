import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(12 * 16, classes)

    def forward(self, x):
        return self.head(self.body(x))


class PGD:
    def __init__(self, model, eps=8 / 255, alpha=2 / 255, steps=20):
        self.model, self.eps, self.alpha, self.steps = model, eps, alpha, steps

    def __call__(self, images, labels):
        images = images.detach()
        adv = images + torch.empty_like(images).uniform_(-self.eps, self.eps)
        adv = adv.clamp(0, 1).requires_grad_(True)
        for _ in range(self.steps):
            loss = F.cross_entropy(self.model(adv), labels)
            grad = torch.autograd.grad(loss, adv)[0]
            adv = adv + self.alpha * grad.sign()
            delta = torch.clamp(adv - images, min=-self.eps, max=self.eps)
            adv = torch.clamp(images + delta, 0, 1).detach().requires_grad_(True)
        return adv.detach()


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def adversarial_training(model, attack, batches, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        model.eval()
        adv = attack(x, y)
        model.train()
        loss = F.cross_entropy(model(adv), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f} robust accuracy {accuracy(model, adv, y):.3f}")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = ConvNet().to(device)
    batches = [(torch.rand(32, 3, 16, 16), torch.randint(0, 10, (32,))) for _ in range(3)]
    adversarial_training(model, PGD(model), batches, device)


if __name__ == "__main__":
    main()
