"""What a logits processor costs a step of ``generate``, next to none at all and to those of XGrammar and llguidance.

No model runs: a processor is called as ``generate`` calls it, with the ids so far and random scores, and the best token
that it leaves is appended. A step is the call and the choice of the token; "none" is the choice alone. Microseconds a
step, the median of the fastest round. 128,256 columns, one torch thread.

llguidance has no processor for transformers: its line is the shortest that can be written with its matchers. It and
XGrammar's processor mask the scores in place. A processor that leaves alone what it was given has to write a row of the
same size besides: "copy alone" copies the scores into memory that is there already and does nothing else, so it is the
floor of "interlock"; the lines "on a copy" are the others behind such a copy.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

BATCHES = (1, 16, 64)
STEPS = 30
# Scores of so many steps are made, and used in turns.
SCORES = 8
ROUNDS = 4
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "age": {"type": "integer"},
    },
    "required": ["name", "tags", "age"],
    "additionalProperties": False,
}
Processor = Callable[[Any, Any], Any]


class Llguidance:
    """Matchers that take the newest token of each row, fill the masks and apply them."""

    def __init__(self, matcher: Any, width: int) -> None:
        self.first, self.width = matcher, width
        self.matchers: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import llguidance.torch as kernels

        if self.matchers:
            for matcher, token in zip(self.matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token)
        else:
            self.matchers = [self.first.deep_copy() for _ in input_ids]
            self.bits = kernels.allocate_token_bitmask(len(input_ids), self.width)
        for i, matcher in enumerate(self.matchers):
            if not matcher.is_stopped():
                kernels.fill_next_token_bitmask(matcher, self.bits, i)
        kernels.apply_token_bitmask_inplace(scores, self.bits.to(scores.device))
        return scores


class OnACopy:
    """Another processor, or none, behind a copy of the scores into memory that is used again."""

    def __init__(self, processor: Processor | None = None) -> None:
        self.processor = processor
        self.rooms: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if not self.rooms:
            self.rooms = [torch.empty_like(scores), torch.empty_like(scores)]
        self.rooms.reverse()
        own = self.rooms[0].copy_(scores)
        return own if self.processor is None else self.processor(input_ids, own)


def makers(vocabulary: interlock.Vocabulary) -> dict[str, Callable[[], Processor]]:
    """How to make a fresh processor of each kind that is installed."""
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")
    found: dict[str, Callable[[], Processor]] = {
        "none": lambda: lambda ids, scores: scores,
        "copy alone": OnACopy,
        "interlock": lambda: GuideLogitsProcessor(index),
        "interlock in place": lambda: GuideLogitsProcessor(index, in_place=True),
    }
    tokens = [vocabulary.token_bytes(i) for i in range(len(vocabulary))]
    (end,) = vocabulary.eos_token_ids
    try:
        import xgrammar
        from xgrammar.contrib.hf import LogitsProcessor

        info = xgrammar.TokenizerInfo(
            tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=vocabulary.size, stop_token_ids=[end]
        )
        grammar = xgrammar.GrammarCompiler(info).compile_json_schema(json.dumps(SCHEMA), any_whitespace=False)
        found["xgrammar"] = lambda: LogitsProcessor(grammar)
        found["xgrammar on a copy"] = lambda: OnACopy(LogitsProcessor(grammar))
    except ImportError:
        print("xgrammar is not installed")
    try:
        import llguidance
        import llguidance.tiktoken
        import tiktoken

        special = set(vocabulary.special_token_ids) | {end}
        encoding = tiktoken.Encoding(
            "real",
            pat_str=r"\S+|\s+",
            mergeable_ranks={token: i for i, token in enumerate(tokens) if i not in special},
            special_tokens={tokens[i].decode(): i for i in special},
        )
        table = llguidance.tiktoken.lltokenizer_from_encoding(encoding, eos_token=end)
        matcher = llguidance.LLMatcher(table, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA)))
        if matcher.is_error():
            raise SystemExit(matcher.get_error())
        found["llguidance"] = lambda: Llguidance(matcher, vocabulary.size)
        found["llguidance on a copy"] = lambda: OnACopy(Llguidance(matcher, vocabulary.size))
    except ImportError:
        print("llguidance or tiktoken is not installed")
    return found


def steps(processor: Processor, batch: int, scores: list[Any]) -> list[float]:
    """The microseconds of every step of one generation."""
    ids = torch.zeros((batch, 4), dtype=torch.long)
    times = []
    for step in range(STEPS):
        own = scores[step % len(scores)].clone()
        start = time.perf_counter()
        token = processor(ids, own).argmax(-1)
        times.append((time.perf_counter() - start) * 1e6)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return times


def main() -> None:
    from real_vocabulary import load

    torch.set_num_threads(1)
    vocabulary = load()
    made = makers(vocabulary)
    for batch in BATCHES:
        torch.manual_seed(0)
        scores = [torch.randn(batch, vocabulary.size) for _ in range(SCORES)]
        best = dict.fromkeys(made, float("inf"))
        for _ in range(ROUNDS):
            for name, make in made.items():
                best[name] = min(best[name], statistics.median(steps(make(), batch, scores)))
        print(f"batch {batch}")
        for name, us in best.items():
            print(f"  {name:20} {us:10.1f} us a step, {us - best['none']:10.1f} above none", flush=True)


if __name__ == "__main__":
    main()
