import torch
import torch.nn as nn
import torch.nn.functional as F


def resnet_like(width, blocks, classes=10):
    layers = [nn.Conv2d(3, width, 3, padding=1), nn.ReLU()]
    for _ in range(blocks):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


def kd_loss(student_logits, teacher_logits, labels, T=4.0, alpha=0.7):
    soft = F.kl_div(F.log_softmax(student_logits / T, 1), F.softmax(teacher_logits / T, 1), reduction="batchmean")
    return alpha * T * T * soft + (1 - alpha) * F.cross_entropy(student_logits, labels)


def distill_epoch(student, teacher, optimizer, loader, device):
    student.train()
    teacher.eval()
    running, seen = 0.0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        teacher_logits = teacher(images)  # expect: frozen-model-with-grad
        loss = kd_loss(student(images), teacher_logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(labels)
        seen += len(labels)
    return running / seen


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    teacher, student = resnet_like(48, 4).to(device), resnet_like(8, 1).to(device)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    loader = [(torch.randn(16, 3, 12, 12), torch.randint(0, 10, (16,))) for _ in range(6)]
    for epoch in range(2):
        print(f"epoch {epoch}: {distill_epoch(student, teacher, optimizer, loader, device):.4f}")


if __name__ == "__main__":
    main()
