"""What the measurements with a small language model share: JSON Schemas, and what is said of a reply.

`llama_cpp_steps.py` and `mlx_steps.py` ask SmolLM2 for documents of these schemas. Replies are judged by
``jsonschema_rs``, which knows nothing of interlock.
"""

from __future__ import annotations

import collections
import json
import statistics

import jsonschema_rs


def text(most: int) -> dict:
    return {"type": "string", "maxLength": most}


def record(**properties: dict) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS = {
    "person": record(name=text(20), age={"type": "integer", "minimum": 0, "maximum": 150}, email=text(24)),
    "tool call": record(
        tool={"enum": ["get_weather", "get_time", "search_flights"]},
        arguments=record(city=text(16), unit={"enum": ["celsius", "fahrenheit"]}, days={"type": "integer"}),
    ),
    "list": record(
        items={"type": "array", "items": record(id={"type": "integer"}, label=text(12)), "minItems": 3, "maxItems": 3}
    ),
    "nested": record(a=record(b=record(c=record(d=text(8), e={"type": "boolean"}), f={"type": "null"}), g=text(8))),
}
LIMIT = 60
"""The tokens that a reply may have."""


def verdict(schema: dict, reply: bytes, ended: bool) -> str:
    """``valid``; ``cut`` if the limit ended the reply and it is no document; ``invalid``."""
    try:
        if jsonschema_rs.is_valid(schema, json.loads(reply)):
            return "valid"
    except ValueError:
        pass
    return "invalid" if ended else "cut"


class Table:
    """A row for each schema and way, and one for all schemas together."""

    HEAD = "| schema | way | ms to the first token | ms a token | beside unconstrained | replies | invalid | cut |"

    def __init__(self) -> None:
        self.verdicts: dict[str, collections.Counter[str]] = {}
        self.ratios: dict[str, list[float]] = {}
        print(self.HEAD + "\n" + "|---" * 8 + "|")

    def add(self, name: str, times: dict[str, list[tuple[float, float]]], verdicts: dict[str, list[str]]) -> None:
        """``times`` are seconds to the first token and for each of the others, for each way and reply."""
        plain = statistics.median(rest for _, rest in times["unconstrained"])
        for way, pairs in times.items():
            first = statistics.median(first for first, _ in pairs)
            rest = statistics.median(rest for _, rest in pairs)
            counts = collections.Counter(verdicts.get(way, ()))
            self._print(name, way, f"{first * 1e3:.1f}", f"{rest * 1e3:.2f}", rest / plain, counts)
            self.verdicts.setdefault(way, collections.Counter()).update(counts)
            self.ratios.setdefault(way, []).append(rest / plain)

    def end(self) -> None:
        """The last rows."""
        for way, ratios in self.ratios.items():
            self._print("all", way, "", "", statistics.mean(ratios), self.verdicts[way])

    def _print(self, name: str, way: str, first: str, rest: str, ratio: float, counts: collections.Counter) -> None:
        told = f"{counts.total()} | {counts['invalid']} | {counts['cut']}" if counts else " | |"
        print(f"| {name} | {way} | {first} | {rest} | {ratio:.2f} | {told} |", flush=True)
