"""GRPO with TRL on constrained rollouts: the trainer's probabilities are those of the policy that was sampled.

A policy sampled under masks is the *masked* policy. TRL samples in ``rollout_func``, here with a logits processor, and
finds log-probabilities again by a forward pass over prompt and output, here with the same masks on the logits. Without
them the gradient would be that of another policy. The program ends with an error if the two differ.

    pip install "interlock[transformers]" trl
    python examples/grpo_trl.py [--model smollm2]

Where TRL samples with vLLM (``use_vllm=True``), a server that was started with ``--structured-outputs-config.backend
interlock`` takes the pattern from ``GRPOConfig(vllm_structured_outputs_regex=PATTERN)``, or any constraint from
``generation_kwargs={"structured_outputs": {"json": SCHEMA}}``. The trainer stays the same.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import torch
from datasets import Dataset
from models import arguments, load, tiny_tokenizer
from trl import GRPOConfig, GRPOTrainer

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor

QUESTIONS = {"What is 7 times 6?": 42, "What is 9 plus 8?": 17}
PATTERN = r"it is (?:[0-9]{1,2}|one|two)\."
GROUP, MAX_TOKENS = 4, 16


class MaskedTrainer(GRPOTrainer):
    """Puts the masks that an output was sampled under on the logits from which its probabilities are found again."""

    index: interlock.Index
    found: dict[tuple[int, ...], list[float]]

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        *others: Any,
        compute_entropy: bool = False,
        **given: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        """What TRL 1.16 asks for: of each output token its log-probability, and the entropy of its place."""
        out = model(input_ids=input_ids, attention_mask=attention_mask, logits_to_keep=logits_to_keep + 1)
        logits, ids = out.logits[:, :-1].float(), input_ids[:, -logits_to_keep:]
        bits = interlock.allocate_bitmask(len(ids) * (logits_to_keep + 1), self.index.vocabulary)
        bits = bits.reshape(len(ids), logits_to_keep + 1, -1)
        for row, tokens in zip(bits, ids.tolist(), strict=True):
            # The budget is part of the mask. Rows behind the end are all ones; TRL does not count what stands there.
            self.index.guide(max_tokens=MAX_TOKENS).fill_draft_bitmasks(tokens, row)
        allowed = torch.zeros_like(logits)
        for places, row in zip(allowed, bits, strict=True):
            interlock.apply_bitmask(places, row[:logits_to_keep])
        every = (logits + allowed).log_softmax(-1)
        entropy = -(every.exp() * every.clamp(min=-1e9)).sum(-1).detach() if compute_entropy else None
        chosen = every.gather(-1, ids[..., None])[..., 0]
        for row, mask, numbers in zip(input_ids.tolist(), attention_mask.tolist(), chosen.tolist(), strict=True):
            # Of prompt and output without padding. What was found first is the policy before the step.
            self.found.setdefault(tuple(token for token, real in zip(row, mask, strict=True) if real), numbers)
        return chosen, entropy, None


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    tokenizer = writer.tokenizer or tiny_tokenizer()
    # The weights of a GGUF file are plain numbers once they are read, yet transformers goes on calling them quantized.
    writer.model.is_quantized = False
    index = interlock.Index.from_regex(PATTERN, writer.vocabulary)
    sampled: dict[tuple[int, ...], list[float]] = {}

    def rollout(prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """One output for each prompt: TRL repeats a prompt for its group."""
        made: dict[str, Any] = {"prompt_ids": [], "completion_ids": [], "logprobs": []}
        for text in prompts:
            inputs = tokenizer(text, return_tensors="pt")
            out = trainer.model.generate(
                **inputs,
                logits_processor=[GuideLogitsProcessor(index, max_tokens=MAX_TOKENS)],
                do_sample=True,
                top_k=0,
                top_p=1.0,
                temperature=1.0,
                max_new_tokens=MAX_TOKENS,
                output_scores=True,
                return_dict_in_generate=True,
            )
            ids = out.sequences[0, inputs["input_ids"].shape[1] :].tolist()
            scores = [
                step[0].float().log_softmax(-1)[token].item() for step, token in zip(out.scores, ids, strict=True)
            ]
            made["prompt_ids"].append(inputs["input_ids"][0].tolist())
            made["completion_ids"].append(ids)
            made["logprobs"].append(scores)
        for prompt, ids, scores in zip(*made.values(), strict=True):
            sampled[tuple([*prompt, *ids])] = scores
        return made

    def reward(completions: list[str], answer: list[int], **others: Any) -> list[float]:
        """1 for the answer, and for the form nothing: it is certain."""
        for text in completions:
            if not re.fullmatch(PATTERN, text):
                sys.exit(f"a rollout is not of the pattern: {text!r}")
        return [float(str(right) in text) for text, right in zip(completions, answer, strict=True)]

    with tempfile.TemporaryDirectory() as folder:
        trainer = MaskedTrainer(
            model=writer.model,
            processing_class=tokenizer,
            reward_funcs=reward,
            rollout_func=rollout,
            train_dataset=Dataset.from_dict({"prompt": list(QUESTIONS), "answer": list(QUESTIONS.values())}),
            args=GRPOConfig(
                output_dir=folder,
                num_generations=GROUP,
                per_device_train_batch_size=GROUP,
                max_completion_length=MAX_TOKENS,
                max_steps=1,
                use_cpu=True,
                report_to=[],
                save_strategy="no",
                disable_tqdm=True,
                bf16=False,
            ),
        )
        trainer.index, trainer.found = index, {}
        result = trainer.train()
    worst = max(
        abs(one - other)
        for whole, scores in sampled.items()
        for one, other in zip(scores, trainer.found[whole], strict=False)
    )
    print(f"{len(sampled)} rollouts, loss {result.training_loss:.4f}, log-probabilities differ by {worst:.1e} at most")
    if not worst < 1e-3:
        sys.exit("the trainer's policy is not the one that was sampled")


if __name__ == "__main__":
    main()
