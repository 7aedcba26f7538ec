"""Calls of a tool that a model makes again, with the same arguments, in the next turn of a tool loop.

Small models do that: they read the result, and call once more. The function would only do again what it did, be it to
send a message, and each turn costs as many tokens as the one before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from interlock._core import ArgumentError
from interlock.output_types import InvalidOutputError
from interlock.output_types.function_calls import FunctionCall
from interlock.tools import Call
from interlock.util.quoting import quoted

__all__ = ["TOLD", "OnRepeat", "RepeatedCalls", "check_on_repeat"]

OnRepeat = Literal["tell", "run", "raise"]
"""What becomes of a call that the model made in the turn before."""

TOLD = {
    "error": "This call is the same as in the turn before, and was not run again: its result is above. Answer, or call "
    "with other arguments."
}
"""What the model reads as the result of such a call."""


def check_on_repeat(on_repeat: Any) -> None:
    """``ArgumentError`` for what is none of the three."""
    if on_repeat not in ("tell", "run", "raise"):
        raise ArgumentError(
            "on_repeat is 'tell', 'run' or 'raise', what becomes of a call that the model made in the turn before, not "
            f"{quoted(on_repeat)}"
        )


class RepeatedCalls:
    """The calls of the turn before, and what becomes of one that comes again."""

    def __init__(self, on_repeat: OnRepeat) -> None:
        self._on_repeat = on_repeat
        self._before: dict[str, FunctionCall[Any]] = {}

    def earlier(self, call: Call, turn: str) -> FunctionCall[Any] | None:
        """The call of the turn before that ``call`` says again and that is not to be run; ``None`` for any other call.
        ``turn`` is what the model wrote. ``InvalidOutputError`` with ``on_repeat="raise"``.
        """
        made = self._before.get(_key(call))
        if made is None or self._on_repeat == "run":
            return None
        if self._on_repeat == "raise":
            raise InvalidOutputError(
                f"the model calls {call.name}(**{dict(call.arguments)!r}) again, as in the turn before: it may not "
                'understand the result. on_repeat="tell" tells it so, max_rounds=1 has it answer behind one turn of '
                'calls, and on_repeat="run" runs it again, for a function that returns something else each time',
                turn,
            )
        return made

    def keep(self, calls: Iterable[tuple[Call, FunctionCall[Any]]]) -> None:
        """Note the calls of a turn, in the place of those before."""
        self._before = {_key(call): made for call, made in calls}


def _key(call: Call) -> str:
    return json.dumps([call.name, dict(call.arguments)], sort_keys=True, default=repr)
