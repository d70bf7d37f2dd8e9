import torch
import torch.nn as nn
import torch.nn.functional as F


def gram(features):
    flat = features.flatten(2)
    return flat @ flat.transpose(1, 2) / flat.size(2)


def stylise(encoder, content, style, steps=6):
    """Optimises an image until its features agree with both sources."""
    with torch.no_grad():
        content_features, style_gram = encoder(content), gram(encoder(style))
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS([image], max_iter=4)
    history = []

    def closure():
        optimizer.zero_grad()
        features = encoder(image)
        loss = F.mse_loss(features, content_features) + 50 * F.mse_loss(gram(features), style_gram)
        loss.backward()
        history.append(loss.item())
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return image.detach(), history


def rank(encoder, image, candidates):
    with torch.no_grad():
        query = encoder(image).mean((2, 3))
        vectors = [encoder(c).mean((2, 3)) for c in candidates]
    order = sorted(range(len(vectors)), key=lambda i: -F.cosine_similarity(query, vectors[i]).item())
    return order


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1)).to(device)
    encoder.requires_grad_(False).eval()
    styles = [torch.rand(1, 3, 24, 24, device=device) for _ in range(3)]
    image, history = stylise(encoder, torch.rand(1, 3, 24, 24, device=device), styles[0])
    print("loss", round(history[0], 4), "->", round(history[-1], 4))
    print("nearest styles", rank(encoder, image, styles))


if __name__ == "__main__":
    main()
