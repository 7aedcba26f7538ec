"""A number without bounds that a model did not end by itself."""

from __future__ import annotations

import math
from typing import Any

from interlock.caller_warnings import warn_caller
from interlock.output_types import OutputType

__all__ = ["UnboundedNumberWarning", "warn_long_number"]

_LONG = 18
"""More digits than a whole number of 64 bits can have."""


class UnboundedNumberWarning(UserWarning):
    """A model wrote a very long number for a plain ``int`` or ``float``: it did not stop writing digits by itself.

    The value is of the type, and most likely useless. Bounds are the remedy: ``Annotated[int, Field(ge=0, le=120)]``.
    """


def warn_long_number(output: OutputType[Any], text: str, value: Any, max_tokens: int) -> None:
    """Warn (``UnboundedNumberWarning``) if ``output`` is a number without bounds and ``value``, which was written as
    ``text``, has more than 18 digits, or nearly as many as tokens were allowed.
    """
    schema = output.source if output.kind == "json_schema" else None
    if not isinstance(schema, dict) or schema not in ({"type": "integer"}, {"type": "number"}):
        return
    digits = sum(character.isdigit() for character in text)
    if isinstance(value, int):
        # JSON may write an integer with an exponent.
        digits = max(digits, int(value.bit_length() * math.log10(2)) + 1)
    if digits > _LONG or digits >= max(max_tokens - 1, 3):
        warn_caller(
            f"the model wrote a number of {digits} digits and did not end it by itself, since {output.name} has no "
            f"bounds: pass bounds, such as Annotated[{output.name}, pydantic.Field(ge=0, le=120)]",
            UnboundedNumberWarning,
        )
