import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalLM(nn.Module):
    def __init__(self, vocab=200, dim=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, num_layers=layers, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, input_ids):
        hidden, _ = self.rnn(self.embed(input_ids))
        return self.lm_head(hidden)


def sequence_logps(model, input_ids, prompt_len):
    logits = model(input_ids[:, :-1])
    labels = input_ids[:, 1:]
    per_token = F.log_softmax(logits, -1).gather(2, labels.unsqueeze(2)).squeeze(2)
    return per_token[:, prompt_len - 1 :].sum(1)


def dpo_loss(policy_logps, ref_logps, beta):
    half = len(policy_logps) // 2
    margins = policy_logps - ref_logps
    return -F.logsigmoid(beta * (margins[:half] - margins[half:])).mean()


class DPOTrainer:
    def __init__(self, model, ref_model, lr=5e-4, beta=0.1):
        self.model, self.ref_model, self.beta = model, ref_model.eval(), beta
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def compute_loss(self, chosen, rejected, prompt_len):
        input_ids = torch.cat([chosen, rejected])
        policy_logps = sequence_logps(self.model, input_ids, prompt_len)
        ref_logps = sequence_logps(self.ref_model, input_ids, prompt_len)  # expect: frozen-model-with-grad
        return dpo_loss(policy_logps, ref_logps, self.beta)

    def training_step(self, batch):
        self.model.train()
        loss = self.compute_loss(**batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


def main(steps=10):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = CausalLM().to(device)
    trainer = DPOTrainer(model, copy.deepcopy(model))
    for step in range(steps):
        prompt = torch.randint(0, 200, (8, 6), device=device)
        answers = torch.randint(0, 200, (2, 8, 18), device=device)
        chosen, rejected = (torch.cat([prompt, answer], 1) for answer in answers)
        loss = trainer.training_step({"chosen": chosen, "rejected": rejected, "prompt_len": prompt.size(1)})
        if step % 3 == 0:
            print({"step": step, "loss": round(loss, 4)})


if __name__ == "__main__":
    main()
