"""Whether a call of a logits processor is the last one before ``generate`` cuts.

transformers tells a processor the ids and the scores, and not how many tokens there may be. The loop that calls it has
its generation config in a variable, and that is looked for. Where it is not found (beams, which keep outputs that have
ended; assisted generation, which takes tokens back; other loops) nothing is known.
"""

from __future__ import annotations

import sys

__all__ = ["length_of_loop"]

_LOOP, _MODULE = "_sample", "transformers.generation.utils"


def length_of_loop() -> int | None:
    """The length, prompt included, at which the loop that is calling cuts every row."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == _LOOP and frame.f_globals.get("__name__") == _MODULE:
            length = getattr(frame.f_locals.get("generation_config"), "max_length", None)
            return length if isinstance(length, int) else None
    return None
