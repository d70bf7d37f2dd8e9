import torch
import torch.nn as nn
import torch.nn.functional as F


class WideTagger(nn.Module):
    def __init__(self, vocab=2000, dim=64, tags=12):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.hidden = nn.Linear(dim, 512)
        self.out = nn.Linear(512, tags)

    def forward(self, ids):
        return self.out(torch.relu(self.hidden(self.embed(ids))))


def one_step(model, optimizer, ids, tags):
    loss = F.cross_entropy(model(ids), tags)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def validate(model, batches, device):
    model.eval()
    correct = total = 0
    with torch.inference_mode():
        for ids, tags in batches:
            correct += (model(ids.to(device)).argmax(-1) == tags.to(device)).sum().item()
            total += tags.numel()
    return correct / total


def main(epochs=3):
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = [(torch.randint(0, 2000, (64, 10)), torch.randint(0, 12, (64,))) for _ in range(8)]
    model = WideTagger().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(epochs):
        model.train()
        losses = [one_step(model, optimizer, ids.to(device), tags.to(device)) for ids, tags in data[:5]]
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} accuracy {validate(model, data[5:], device):.3f}")


if __name__ == "__main__":
    main()
