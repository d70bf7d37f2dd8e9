import argparse
import math
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class CausalLMOutput:
    logits: torch.Tensor
    loss: Optional[torch.Tensor] = None


class MiniGPT(nn.Module):
    def __init__(self, vocab_size=96, width=48, heads=4):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.block = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
        self.lm_head = nn.Linear(width, vocab_size, bias=False)

    def forward(self, input_ids, labels=None):
        mask = nn.Transformer.generate_square_subsequent_mask(input_ids.size(1)).to(input_ids.device)
        logits = self.lm_head(self.block(self.wte(input_ids), src_mask=mask))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return CausalLMOutput(logits, loss)


def perplexity(model, ids, window=32, stride=16):
    model.eval()
    nll = torch.zeros((), device=ids.device)
    n_tokens, prev_end = 0, 0
    for begin in range(0, ids.size(1) - window, stride):
        end = begin + window
        target_len = end - prev_end
        chunk = ids[:, begin:end]
        labels = chunk.clone()
        labels[:, :-target_len] = -100
        outputs = model(chunk, labels=labels)
        nll = nll + outputs.loss.item() * target_len
        n_tokens += target_len
        prev_end = end
    return math.exp(nll.item() / n_tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=520)
    args = parser.parse_args()
    torch.manual_seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MiniGPT().to(device)
    ids = torch.randint(0, 96, (1, args.tokens), device=device)
    print(f"perplexity {perplexity(model, ids):.2f}")


if __name__ == "__main__":
    main()
