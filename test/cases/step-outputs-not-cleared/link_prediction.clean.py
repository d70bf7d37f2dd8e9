"""Link prediction on a random graph with a small hand-written trainer that hands the outputs over."""

import torch
from torch import nn


class GraphLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, h, adj):
        return torch.relu(adj @ self.lin(h))


class LinkModule(nn.Module):
    def __init__(self, nodes, width=16):
        super().__init__()
        self.table = nn.Embedding(nodes, width)
        self.conv = GraphLayer(width, width)
        self.epoch_aucs = []

    def forward(self, adj, pairs):
        h = self.conv(self.table.weight, adj)
        return (h[pairs[0]] * h[pairs[1]]).sum(dim=-1)

    def training_step(self, batch):
        adj, pairs, target = batch
        return nn.functional.binary_cross_entropy_with_logits(self(adj, pairs), target)

    @torch.no_grad()
    def validation_step(self, batch):
        adj, pairs, target = batch
        return {"scores": self(adj, pairs).sigmoid().cpu(), "target": target.cpu()}

    def validation_epoch_end(self, outputs):
        scores = torch.cat([o["scores"] for o in outputs])
        target = torch.cat([o["target"] for o in outputs])
        order = scores.argsort()
        ranks = torch.empty_like(order)
        ranks[order] = torch.arange(len(order))
        pos = target.sum().item()
        auc = (ranks[target > 0].sum().item() - pos * (pos - 1) / 2) / max(pos * (len(target) - pos), 1)
        self.epoch_aucs.append(auc)


class Trainer:
    def __init__(self, module, lr=0.05):
        self.module = module
        self.optimizer = torch.optim.Adagrad(module.parameters(), lr=lr)

    def fit(self, train_batches, val_batches, epochs):
        for epoch in range(epochs):
            self.module.train()
            for batch in train_batches:
                loss = self.module.training_step(batch)
                loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
            self.module.eval()
            outputs = []
            for batch in val_batches():
                outputs.append(self.module.validation_step(batch))
            self.module.validation_epoch_end(outputs)
            print(f"epoch {epoch} AUC {self.module.epoch_aucs[-1]:.4f}")


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    nodes = 60
    adj = torch.rand(nodes, nodes, device=device).lt(0.1).float() / 6

    def batch():
        return adj, torch.randint(0, nodes, (2, 512), device=device), torch.randint(0, 2, (512,), device=device).float()

    def validation():
        return (batch() for _ in range(4))

    Trainer(LinkModule(nodes).to(device)).fit([batch() for _ in range(4)], validation, epochs=5)


if __name__ == "__main__":
    main()
