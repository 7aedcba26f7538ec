"""Rollouts for reinforcement learning from vLLM, and a trainer that finds the same log-probabilities.

vLLM samples groups of constrained outputs, as GRPO wants them, and reports the log-probability of each token under the
mask (``logprobs_mode="processed_logprobs"``). The trainer, which has the model in transformers, makes the masks of
a whole rollout in one call and must find the same numbers; the program ends with an error if it does not.

    python examples/rollouts_vllm.py FOLDER-OF-A-MODEL

Libraries that talk to a server pass the same constraint through: with verifiers it is
``sampling_args={"extra_body": {"structured_outputs": {"regex": PATTERN}}}``, with the OpenAI client ``extra_body=...``,
and with TRL and verl, which make vLLM's ``SamplingParams`` themselves, its argument ``structured_outputs``.
"""

from __future__ import annotations

import os
import sys

import interlock
from interlock.integrations.vllm import Options, Source, compile_source, register
from interlock.integrations.vllm.backend import guide_within

PROMPTS = ["What is 7 times 6? Think first. ", "What is 9 plus 8? Think first. "]
PATTERN = r"(so|well|hm), it is ([0-9]{1,2})"
GROUP, MAX_TOKENS = 6, 24


def rollouts(folder: str) -> list[tuple[list[int], list[int], list[float]]]:
    """Prompt, output and log-probabilities of each rollout, from vLLM."""
    register()
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    llm = LLM(
        folder,
        dtype="float32",
        enforce_eager=True,
        max_model_len=256,
        logprobs_mode="processed_logprobs",
        structured_outputs_config={"backend": "interlock"},
    )
    constraint = StructuredOutputsParams(regex=PATTERN)
    params = SamplingParams(n=GROUP, temperature=1.0, max_tokens=MAX_TOKENS, logprobs=0, structured_outputs=constraint)
    return [
        (
            list(answer.prompt_token_ids or ()),
            list(output.token_ids),
            [step[token].logprob for step, token in zip(output.logprobs or (), output.token_ids, strict=True)],
        )
        for answer in llm.generate(PROMPTS, params)
        for output in answer.outputs
    ]


def main(folder: str) -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # GiB for keys and values. Without it vLLM's build for processors wants nine tenths of all memory.
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    sampled = rollouts(folder)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    vocabulary = interlock.Vocabulary.from_tokenizer(tokenizer, size=model.config.vocab_size)
    index = compile_source(Source("regex", PATTERN), vocabulary, Options())
    worst = 0.0
    for prompt, ids, reported in sampled:
        # The budget is part of the mask, so the trainer's guide has the same one.
        bits = interlock.allocate_bitmask(len(ids) + 1, vocabulary)
        if guide_within(index, MAX_TOKENS).fill_draft_bitmasks(ids, bits) != len(ids):
            sys.exit("a rollout holds a forbidden token")
        with torch.no_grad():
            logits = model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1].float()
        interlock.apply_bitmask(logits, bits[: len(ids)])
        found = logits.log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids)]
        difference = (found - torch.tensor(reported)).abs().max().item()
        worst = max(worst, difference)
        print(f"{tokenizer.decode(ids, skip_special_tokens=True):24} {found.sum():8.3f}  differs by {difference:.1e}")
    print(f"{len(sampled)} rollouts, the largest difference of a token's log-probability is {worst:.1e}")
    if worst > 1e-2:
        sys.exit("the trainer's policy is not the one that was sampled")


if __name__ == "__main__":
    main(sys.argv[1])
