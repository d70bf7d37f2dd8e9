import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

try:
    from accelerate import Accelerator
except ImportError:
    class Accelerator:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def prepare(self, *objects):
            return [o.to(self.device) if isinstance(o, nn.Module) else o for o in objects]

        def backward(self, loss):
            loss.backward()

        def print(self, *args):
            print(*args)


class SequenceClassifier(nn.Module):
    def __init__(self, vocab=200, dim=32, labels=3):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, labels))

    def forward(self, input_ids, labels):
        logits = self.mlp(self.emb(input_ids))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def training_function(config):
    accelerator = Accelerator()
    dataset = TensorDataset(torch.randint(0, 200, (800, 12)), torch.randint(0, 3, (800,)))
    model = SequenceClassifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    loader = DataLoader(dataset, batch_size=config["batch_size"], shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=50)
    for epoch in range(config["num_epochs"]):
        model.train()
        total_loss = 0
        for input_ids, labels in loader:
            outputs = model(input_ids.to(accelerator.device), labels.to(accelerator.device))
            loss = outputs["loss"]
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total_loss += loss.item()
        accelerator.print(f"epoch {epoch}: {float(total_loss) / len(loader):.4f}")


if __name__ == "__main__":
    training_function({"lr": 2e-3, "batch_size": 16, "num_epochs": 1})
