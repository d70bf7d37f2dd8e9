import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.log = {"loss": [], "recon": []}

    def fit(self, batches):
        for batch in batches:
            batch = batch.to(self.device)
            recon = self.model(batch)
            per_sample = (recon - batch).pow(2).mean(dim=1)
            loss = per_sample.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.log["loss"].append(loss.item())
            self.log["recon"].append(per_sample.to("cpu").float())  # expect: device-move-keeps-graph
        return self.log


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(50, 16), nn.Tanh(), nn.Linear(16, 50))
    trainer = Trainer(model, device)
    log = trainer.fit([torch.randn(128, 50) for _ in range(8)])
    hardest = torch.stack(log["recon"]).mean(0).topk(3).indices.tolist()
    print(log["loss"][-1], hardest)


if __name__ == "__main__":
    main()
