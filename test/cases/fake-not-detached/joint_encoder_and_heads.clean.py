import torch
import torch.nn as nn


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16)).to(device)
    head = nn.Linear(16, 3).to(device)
    decoder = nn.Linear(16, 20).to(device)
    opt_enc = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    opt_head = torch.optim.Adam(list(head.parameters()) + list(decoder.parameters()), lr=1e-3)
    for it in range(6):
        x = torch.randn(32, 20, device=device)
        z = encoder(x)
        loss = nn.functional.cross_entropy(head(z), x[:, :3].argmax(1)) + (decoder(z) - x).pow(2).mean()
        opt_enc.zero_grad()
        opt_head.zero_grad()
        loss.backward()
        opt_enc.step()
        opt_head.step()
    print(loss.item())


if __name__ == "__main__":
    main()
