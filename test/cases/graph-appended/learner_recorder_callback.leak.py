import torch
import torch.nn as nn
import torch.nn.functional as F


class Callback:
    def before_fit(self, learn): pass
    def after_batch(self, learn): pass
    def after_epoch(self, learn): pass


class Recorder(Callback):
    def before_fit(self, learn):
        self.losses, self.lrs, self.epoch_means = [], [], []

    def after_batch(self, learn):
        if not learn.training:
            return
        self.lrs.append(learn.opt.param_groups[0]["lr"])
        self.losses.append(learn.loss)  # expect: graph-appended

    def after_epoch(self, learn):
        tail = self.losses[-len(learn.dl):]
        self.epoch_means.append(sum(float(v) for v in tail) / len(tail))
        print(f"{learn.epoch:>3} {self.epoch_means[-1]:.4f} lr={self.lrs[-1]:.1e}")


class CosineLR(Callback):
    def before_fit(self, learn):
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(learn.opt, learn.n_epochs * len(learn.dl))

    def after_batch(self, learn):
        self.sched.step()


class Learner:
    def __init__(self, model, dl, loss_func, opt_func=torch.optim.SGD, lr=0.1, cbs=()):
        self.model, self.dl, self.loss_func, self.cbs = model, dl, loss_func, list(cbs)
        self.opt = opt_func(model.parameters(), lr=lr)
        self.training, self.loss, self.epoch, self.n_epochs = True, None, 0, 0

    def notify(self, event):
        for cb in self.cbs:
            getattr(cb, event)(self)

    def one_batch(self, xb, yb):
        self.loss = self.loss_func(self.model(xb), yb)
        self.loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        self.notify("after_batch")

    def fit(self, n_epochs):
        self.n_epochs = n_epochs
        self.notify("before_fit")
        for self.epoch in range(n_epochs):
            for xb, yb in self.dl:
                self.one_batch(xb, yb)
            self.notify("after_epoch")


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dl = [(torch.randn(16, 20, device=device), torch.randint(0, 4, (16,), device=device)) for _ in range(25)]
    net = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 4)).to(device)
    Learner(net, dl, F.cross_entropy, cbs=[Recorder(), CosineLR()]).fit(3)
