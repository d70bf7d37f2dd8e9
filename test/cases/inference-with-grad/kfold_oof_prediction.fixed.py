import numpy as np
import torch
import torch.nn as nn

SEED, FOLDS, BATCH = 2024, 2, 50
torch.manual_seed(SEED)
np.random.seed(SEED)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class TabularNet(nn.Module):
    def __init__(self, n_num, cardinalities, width=64):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, 4) for c in cardinalities])
        self.body = nn.Sequential(
            nn.Linear(n_num + 4 * len(cardinalities), width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 1),
        )

    def forward(self, num, cat):
        parts = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return self.body(torch.cat([num, *parts], dim=1)).squeeze(1)


def batches(index):
    for start in range(0, len(index), BATCH):
        yield index[start:start + BATCH]


def fit_fold(num, cat, target, train_index):
    model = TabularNet(num.size(1), (7, 12)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for idx in batches(np.random.permutation(train_index)):
        loss = loss_fn(model(num[idx], cat[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def predict_fold(model, num, cat, valid_index):
    model.eval()
    oof = torch.zeros(len(num), device=device)
    for idx in batches(valid_index):
        with torch.no_grad():
            logits = model(num[idx], cat[idx])
        oof[idx] = torch.sigmoid(logits)
    return oof.tolist()


def main():
    n = 2000
    num, cat = torch.randn(n, 10, device=device), torch.randint(0, 7, (n, 2), device=device)
    target = (num[:, 0] + 0.3 * cat[:, 0] > 1).float()
    order = np.random.permutation(n)
    total = np.zeros(n)
    for fold, valid in enumerate(np.array_split(order, FOLDS)):
        total += predict_fold(fit_fold(num, cat, target, np.setdiff1d(order, valid)), num, cat, valid)
        print(f"fold {fold} positives {(total > 0.5).sum()}")


if __name__ == "__main__":
    main()
