import torch
import torch.nn as nn


class SmoothedCrossEntropy(torch.autograd.Function):
    """Label-smoothed cross entropy that also hands out the probabilities."""

    @staticmethod
    def forward(ctx, logits, target, smoothing):
        log_probs = logits.log_softmax(dim=-1)
        probs = log_probs.exp()
        classes = logits.shape[-1]
        truth = torch.full_like(log_probs, smoothing / classes)
        truth.scatter_add_(1, target.unsqueeze(1), torch.full_like(log_probs[:, :1], 1 - smoothing))
        loss = -(truth * log_probs).sum(dim=-1).mean()
        ctx.save_for_backward(truth, probs)
        ctx.batch = logits.shape[0]
        return loss, probs

    @staticmethod
    def backward(ctx, grad_loss, grad_probs):
        truth, probs = ctx.saved_tensors
        from_loss = (probs - truth) * (grad_loss / ctx.batch)
        from_probs = probs * (grad_probs - (grad_probs * probs).sum(-1, keepdim=True))
        return from_loss + from_probs, None, None


class KeywordSpotter(nn.Module):
    def __init__(self, mels=40, classes=35):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(mels, 64, 5, stride=2), nn.ReLU(), nn.Conv1d(64, 64, 5, stride=2), nn.ReLU())
        self.fc = nn.Linear(64, classes)

    def forward(self, mel):
        return self.fc(self.conv(mel).mean(-1))


def run_epoch(model, optimizer, batches, smoothing=0.1, entropy_weight=0.01):
    confident = seen = 0
    for mel, label in batches:
        loss, probs = SmoothedCrossEntropy.apply(model(mel), label, smoothing)
        penalty = (probs * probs.clamp_min(1e-8).log()).sum(-1).mean()
        optimizer.zero_grad(set_to_none=True)
        (loss + entropy_weight * penalty).backward()
        optimizer.step()
        confident += (probs.detach().amax(-1) > 0.5).sum().item()
        seen += label.numel()
    return loss.item(), confident / seen


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    spotter = KeywordSpotter().to(device)
    sgd = torch.optim.SGD(spotter.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(6):
        data = ((torch.randn(128, 40, 30, device=device), torch.randint(0, 35, (128,), device=device)) for _ in range(3))
        loss, share = run_epoch(spotter, sgd, data)
        print(f"epoch {epoch} loss {loss:.4f} confident {share:.2%}")
