"""Rollouts for reinforcement learning (GRPO): groups of constrained samples, and probabilities under the same masks.

A policy that was sampled under masks is the *masked* policy: its log-probabilities must be renormalised over what was
allowed, or the gradient is that of another distribution. ``fill_draft_bitmasks`` gives the masks of a whole rollout in
one call, so the update needs no second decoding. The program checks that probabilities found so are those of sampling.

    python examples/grpo_rollouts.py [--model smollm2]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch
from models import Writer, arguments, load

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor

PROMPTS = ["What is 7 times 6? Think first.", "What is 9 plus 8? Think first."]
ANSWERS = [42, 17]
PATTERN = r"(so|well|hm), it is ([0-9]{1,2})"
GROUP = 6


def log_probabilities(writer: Writer, index: interlock.Index, prompt: torch.Tensor, ids: list[int]) -> torch.Tensor:
    """The log-probability of each token of a rollout under the masked policy, with a gradient."""
    bits = interlock.allocate_bitmask(len(ids) + 1, index.vocabulary)
    if index.guide().fill_draft_bitmasks(ids, bits) != len(ids):
        sys.exit("a rollout holds a forbidden token")
    whole = torch.cat([prompt, torch.tensor([ids])], dim=1)
    logits = writer.model(whole).logits[0, prompt.shape[1] - 1 : -1]
    found: torch.Tensor = interlock.masked_logprobs(logits, bits[: len(ids)], ids)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    index = interlock.Index.from_regex(PATTERN, writer.vocabulary)
    stop = set(writer.vocabulary.eos_token_ids)
    torch.manual_seed(3)
    loss = torch.zeros(())
    for text, answer in zip(PROMPTS, ANSWERS, strict=True):
        inputs = writer.prompt(text)
        out = writer.model.generate(
            **inputs,
            logits_processor=[GuideLogitsProcessor(index)],
            do_sample=True,
            top_k=0,
            top_p=1.0,
            temperature=1.0,
            num_return_sequences=GROUP,
            max_new_tokens=60,
            output_scores=True,
            return_dict_in_generate=True,
        )
        rollouts = []
        for row in out.sequences[:, inputs["input_ids"].shape[1] :].tolist():
            rollouts.append(row[: next(i for i, t in enumerate(row) if t in stop) + 1])
        rewards = torch.tensor([-abs(int(writer.text(ids).rsplit(" ", 1)[1]) - answer) / 10.0 for ids in rollouts])
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        print(text)
        for i, (ids, reward, advantage) in enumerate(zip(rollouts, rewards, advantages, strict=True)):
            found = log_probabilities(writer, index, inputs["input_ids"], ids)
            sampled = torch.stack([out.scores[k][i].float().log_softmax(-1)[t] for k, t in enumerate(ids)])
            if not torch.allclose(found.detach(), sampled, atol=1e-3):
                sys.exit(f"probabilities differ: {found.tolist()} and {sampled.tolist()}")
            loss = loss - advantage * found.mean() / GROUP
            numbers = f"reward {reward:6.2f}  advantage {advantage:5.2f}  log-probability {found.sum():7.2f}"
            print(f"  {writer.text(ids):22} {numbers}")
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in writer.model.parameters() if p.grad is not None]).norm()
    print(f"loss {loss.item():.4f}, norm of the gradient {norm.item():.4f}")
    if not torch.isfinite(norm) or norm == 0:
        sys.exit("the gradient is not usable")


if __name__ == "__main__":
    main()
