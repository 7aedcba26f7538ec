"""Greedy decoding with and without jump-forward: the same text, and how often the model was called.

    python benches/jump_forward.py [--model smollm2] [--style spaced|compact]

Three ways to the end of each schema: ``jump_forward``; token by token under the mask, with forced runs spelled as the
tokenizer spells them (``GuideLogitsProcessor(canonical=True)``); and token by token under the mask alone, where a model
may well spell a forced run in another way. The first two must write the same tokens, or the run ends with an error. The
third shows what the spelling is worth: the same text only where the model happens to spell as its tokenizer does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor, JumpForwardStats, jump_forward

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

NAME = {"type": "string", "maxLength": 20}
COORDINATE = {"type": "integer", "minimum": -99, "maximum": 99}


def record(**properties: Any) -> dict[str, Any]:
    """An object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "person": (
        "Give an example person as JSON.",
        record(first_name=NAME, last_name=NAME, age={"type": "integer", "minimum": 0}, employed={"type": "boolean"}),
    ),
    "tool call": (
        "What is the weather in Oslo tomorrow? Call a tool.",
        record(
            name={"const": "get_weather_forecast"},
            arguments=record(location=NAME, days_from_now=COORDINATE, units={"enum": ["celsius", "fahrenheit"]}),
        ),
    ),
    "points": (
        "Name three points of a triangle.",
        {
            "type": "array",
            "items": record(x_coordinate=COORDINATE, y_coordinate=COORDINATE),
            "minItems": 3,
            "maxItems": 3,
        },
    ),
    "verdict": (
        "Classify: 'The soup was cold and the waiter was rude.'",
        record(
            sentiment={"enum": ["positive", "negative", "neutral"]},
            confidence={"enum": ["low", "medium", "high"]},
            mentions_of_service={"type": "boolean"},
            mentions_of_food={"type": "boolean"},
        ),
    ),
}


def compare(writer: Any, index: interlock.Index, prompt: str, limit: int) -> tuple[JumpForwardStats, int, bool, int]:
    """What jump-forward did, the calls without it, whether the mask alone gives the same text, and its calls."""
    stats = JumpForwardStats()
    kw = {"do_sample": False, "max_new_tokens": limit}
    (jumped,) = writer.generate(prompt, custom_generate=jump_forward, constraints=index, stats=stats, **kw)
    (stepped,) = writer.generate(prompt, logits_processor=[GuideLogitsProcessor(index, canonical=True)], **kw)
    if jumped != stepped:
        raise SystemExit(f"jump-forward wrote {writer.text(jumped)!r}, greedy search {writer.text(stepped)!r}")
    (masked,) = writer.generate(prompt, logits_processor=[GuideLogitsProcessor(index)], **kw)
    return stats, len(stepped), writer.text(masked) == writer.text(jumped), len(masked)


def main() -> None:
    from models import SMOLLM2, load

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default=SMOLLM2)
    parser.add_argument("--style", default="spaced", choices=["spaced", "compact"])
    parser.add_argument("--tokens", type=int, default=200, help="at most so many for each")
    chosen = parser.parse_args()
    writer = load(chosen.model)
    print(f"{chosen.model}, {chosen.style}: calls of the model, greedy")
    print("| schema | jump-forward | forced tokens | token by token | same tokens | mask alone | same text |")
    print("|---|---|---|---|---|---|---|")
    for name, (prompt, schema) in CASES.items():
        index = interlock.Index.from_json_schema(schema, writer.vocabulary, whitespace=chosen.style)
        stats, calls, same, masked = compare(writer, index, prompt, chosen.tokens)
        row = [name, stats.model_calls, stats.forced, calls, "yes", masked, "yes" if same else "no"]
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
