import torch
import torch.nn as nn
import torch.nn.functional as F


def candidates(model, prompts, temperature):
    for prompt in prompts:
        with torch.no_grad():
            logits = model(prompt).div(temperature)
            answer = torch.multinomial(logits.softmax(-1), 1).squeeze(-1)
        yield prompt, answer, logits.max().item()


def keep_confident(stream, threshold):
    for prompt, answer, score in stream:
        if score > threshold:
            yield prompt, answer


def self_train(model, optimizer, prompts, threshold):
    used, total = 0, 0.0
    for prompt, answer in keep_confident(candidates(model, prompts, 0.7), threshold):
        loss = F.cross_entropy(model(prompt), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        used, total = used + 1, total + loss.item()
    return used, total / max(used, 1)


def any_confident(model, prompts, threshold):
    return any(score > threshold for _, _, score in candidates(model, prompts, 1.0))


def peek(iterable):
    it = iter(iterable)
    first = next(it, None)
    return first


def main(rounds=4):
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 8)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for number in range(rounds):
        prompts = [torch.randn(16, 24, device=device) for _ in range(8)]
        print("top of the stream:", tuple(peek(prompts).shape), any_confident(model, prompts, 0.5))
        used, loss = self_train(model, optimizer, prompts, threshold=0.6)
        print(f"round {number}: {used} batches, loss {loss:.4f}")


if __name__ == "__main__":
    main()
