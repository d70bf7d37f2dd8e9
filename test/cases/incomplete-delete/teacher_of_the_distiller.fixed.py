import torch
import torch.nn as nn


class Teacher(nn.Module):
    def __init__(self, dim=512):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 10))

    def forward(self, x):
        return self.net(x)


class Distiller:
    def __init__(self, device):
        self.device = device
        self.teacher = Teacher().to(device)
        self.optimizer = torch.optim.AdamW(self.teacher.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)

    def train_teacher(self, steps=6):
        for _ in range(steps):
            x = torch.randn(32, 64, device=self.device)
            loss = nn.functional.cross_entropy(self.teacher(x), x[:, :10].argmax(1))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
        return loss.item()

    def targets(self, x):
        with torch.no_grad():
            return self.teacher(x).softmax(1)

    def train_student(self, x, target, steps=6):
        del self.teacher, self.optimizer, self.scheduler
        student = nn.Linear(64, 10).to(self.device)
        opt = torch.optim.SGD(student.parameters(), lr=0.1)
        for _ in range(steps):
            loss = nn.functional.kl_div(student(x).log_softmax(1), target, reduction="batchmean")
            opt.zero_grad()
            loss.backward()
            opt.step()
        return loss.item()


if __name__ == "__main__":
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    d = Distiller(dev)
    print("teacher", d.train_teacher())
    x = torch.randn(64, 64, device=dev)
    print("student", d.train_student(x, d.targets(x)))
