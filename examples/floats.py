"""Numbers within bounds and with two decimals, many at once: bounds are exact decimal arithmetic, not rounding.

python examples/floats.py [--model smollm2]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from decimal import Decimal

import torch
from models import arguments, load

import interlock
from interlock.integrations.transformers import GuideLogitsProcessor

SCHEMA = {"type": "number", "minimum": -273.15, "exclusiveMaximum": 100, "multipleOf": 0.01}
LOWEST, ABOVE, STEP = Decimal("-273.15"), Decimal(100), Decimal("0.01")


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    index = interlock.Index.from_json_schema(SCHEMA, writer.vocabulary)
    torch.manual_seed(1)
    rows = writer.generate(
        "Give a temperature of water in degrees Celsius, as a number only.",
        logits_processor=[GuideLogitsProcessor(index)],
        do_sample=True,
        num_return_sequences=12,
        max_new_tokens=60,
    )
    ended = 0
    for ids in rows:
        text = writer.text(ids)
        guide = index.guide()
        if guide.advance_many(ids) != len(ids):
            sys.exit(f"{text!r} is not the beginning of such a number")
        if not guide.is_terminated:
            print(f"{text}... (not finished)")
            continue
        ended += 1
        print(text)
        value = Decimal(text.strip())
        if not LOWEST <= value < ABOVE or value % STEP:
            sys.exit(f"{text!r} is out of bounds")
    if not ended:
        sys.exit("no number was finished")


if __name__ == "__main__":
    main()
