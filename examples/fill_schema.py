"""A small language model fills in a JSON Schema: the text as it appears, forced and chosen parts told apart.

Forced parts are those that the schema leaves no choice about; they cost no call of the model. On a terminal they are
green, elsewhere they stand in double brackets. The result is checked twice: by a fresh guide, and by reading the JSON.

    python examples/fill_schema.py [--model smollm2]
"""

from __future__ import annotations

import codecs
import json
import sys
import time
from collections.abc import Sequence

from models import SMOLLM2, arguments, load

import interlock
from interlock.integrations.transformers import JumpForwardStats, jump_forward

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 20},
        "country": {"type": "string", "minLength": 2, "maxLength": 20},
        "continent": {"enum": ["Africa", "America", "Asia", "Australia", "Europe"]},
        "inhabitants_in_millions": {"type": "number", "minimum": 0, "maximum": 40, "multipleOf": 0.1},
        "capital": {"type": "boolean"},
        "sights": {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": 24},
            "minItems": 1,
            "maxItems": 3,
        },
    },
    "required": ["city", "country", "continent", "inhabitants_in_millions", "capital", "sights"],
    "additionalProperties": False,
}
PROMPT = f"Describe Paris as a JSON object with the keys {', '.join(SCHEMA['properties'])}."


class Screen:
    """Prints tokens as they come. A character whose bytes lie in two tokens waits for its last byte."""

    def __init__(self, vocabulary: interlock.Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.marks = ("\033[32m", "\033[0m") if sys.stdout.isatty() else ("[[", "]]")
        self.forced = False

    def show(self, row: int, ids: list[int], forced: bool) -> None:
        """Called by the loop for every run of tokens."""
        text = self.decoder.decode(self.vocabulary.decode(ids))
        if text:
            self.mark(forced)
            print(text, end="", flush=True)

    def mark(self, forced: bool) -> None:
        """Begin or end a forced part."""
        if forced != self.forced:
            print(self.marks[0 if forced else 1], end="")
        self.forced = forced


def main(argv: Sequence[str] | None = None) -> None:
    name = arguments(__doc__, argv, default=SMOLLM2).model
    start = time.perf_counter()
    writer = load(name)
    print(f"model {name} and {writer.vocabulary!r}, loaded in {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    index = interlock.Index.from_json_schema(SCHEMA, writer.vocabulary, whitespace="spaced")
    print(f"schema compiled in {(time.perf_counter() - start) * 1e3:.1f} ms")
    print(f"\n{PROMPT}\n")
    stats, screen = JumpForwardStats(), Screen(writer.vocabulary)
    start = time.perf_counter()
    (ids,) = writer.generate(
        PROMPT,
        custom_generate=jump_forward,
        constraints=index,
        do_sample=False,
        max_new_tokens=1500,
        stats=stats,
        on_tokens=screen.show,
    )
    seconds = time.perf_counter() - start
    screen.mark(False)
    print(f"\n\n{len(ids)} tokens in {seconds:.1f} s: {stats.forced} forced, {stats.sampled} chosen by the model")
    saved = len(ids) - stats.model_calls
    print(f"{stats.model_calls} calls of the model; token by token it would have been {len(ids)}: {saved} saved")

    guide = index.guide()
    if guide.advance_many(ids) != len(ids) or not guide.is_terminated:
        sys.exit(f"the guide does not accept the output: {writer.vocabulary.decode(ids)!r}")
    value = json.loads(writer.text(ids))
    if list(value) != SCHEMA["required"] or not 1 <= len(value["sights"]) <= 3:
        sys.exit(f"the output does not follow the schema: {value!r}")
    print("The output is what the schema asks for.")


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    main()
