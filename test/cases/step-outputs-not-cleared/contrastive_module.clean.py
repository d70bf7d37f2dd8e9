import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    import lightning as L

    LightningModule = L.LightningModule
except ImportError:

    class LightningModule(nn.Module):
        def log(self, name, value, **kwargs):
            print(f"{name}: {float(value):.4f}")


class ContrastiveSpeech(LightningModule):
    def __init__(self, mels=40, width=96, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.encoder = nn.Sequential(nn.Conv1d(mels, width, 5, stride=2), nn.GELU(), nn.Conv1d(width, width, 5, stride=2))
        self.training_step_outputs = []
        self.validation_step_outputs = []

    def forward(self, mel):
        return F.normalize(self.encoder(mel).mean(dim=-1), dim=-1)

    def _shared_step(self, batch):
        first, second = batch
        a, b = self(first), self(second)
        sims = a @ b.T / self.temperature
        return F.cross_entropy(sims, torch.arange(len(a), device=a.device)), sims

    def on_train_epoch_start(self):
        self.training_step_outputs = []

    def training_step(self, batch, batch_idx):
        loss, sims = self._shared_step(batch)
        self.training_step_outputs.append(sims.diagonal().mean().item())
        return loss

    def validation_step(self, batch, batch_idx):
        loss, sims = self._shared_step(batch)
        hits = (sims.argmax(dim=1) == torch.arange(len(sims), device=sims.device)).float().mean()
        self.validation_step_outputs.append({"loss": loss.detach(), "hits": hits.detach()})

    def on_train_epoch_end(self):
        self.log("train/similarity", sum(self.training_step_outputs) / len(self.training_step_outputs))

    def on_validation_epoch_end(self):
        for key in ("loss", "hits"):
            self.log(f"val/{key}", torch.stack([o[key] for o in self.validation_step_outputs]).mean())
        self._forget()

    def _forget(self):
        del self.validation_step_outputs[:]


def fit(module, train_set, val_set, epochs, device):
    module.to(device)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    for _ in range(epochs):
        module.on_train_epoch_start()
        for i, (a, b) in enumerate(train_set):
            optimizer.zero_grad(set_to_none=True)
            module.training_step((a.to(device), b.to(device)), i).backward()
            optimizer.step()
        module.on_train_epoch_end()
        with torch.no_grad():
            for i, (a, b) in enumerate(val_set):
                module.validation_step((a.to(device), b.to(device)), i)
        module.on_validation_epoch_end()


if __name__ == "__main__":
    torch.manual_seed(0)
    pairs = [(torch.randn(16, 40, 50), torch.randn(16, 40, 50)) for _ in range(6)]
    fit(ContrastiveSpeech(), pairs[:4], pairs[4:], 4, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
