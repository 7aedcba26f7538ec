"""A value that its budget may have cut short: whole, but with less in it than the model would have written. The option
``on_tight`` of a call says what becomes of it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError
from interlock.budget_cuts import Guided, budget_cuts, has_budget_cut
from interlock.generators.replies.partial_json import open_place
from interlock.grammars.length_options import length_remedy
from interlock.integrations._number_end import NumberEnd
from interlock.output_types.context_room import ContextRoom
from interlock.output_types.errors import InvalidOutputError
from interlock.output_types.output_type import is_free_text
from interlock.output_types.unbounded_places import long_fraction, unbounded_place, unbounded_within
from interlock.util.argument_types import require
from interlock.util.caller_warnings import warn_caller
from interlock.util.plurals import counted
from interlock.util.quoting import quoted

__all__ = [
    "BudgetChecks",
    "TightBudgetError",
    "TightBudgetWarning",
    "check_on_tight",
    "is_cut_short",
    "judge_budget",
]

_ON_TIGHT = ("warn", "ignore", "error")

_AMPLE = 4
"""So many times of what the shortest value needs are no tight budget."""

_SHORT_NUMBERS = (
    "take an int of a smaller unit (125 cents in the place of 1.25), or for a Decimal a text with a pattern, "
    r"Annotated[Decimal, WithJsonSchema({'type': 'string', 'pattern': r'^[0-9]{1,5}\.[0-9]{2}$'})]"
)

_SHOWN = 3
"""So many places are named in a message."""


class TightBudgetWarning(UserWarning):
    """``max_tokens`` decided how a value ended: texts may be empty or end in the middle, lists may be short.

    The value is whole and of its type. The message says which of two things it was. Either ``max_tokens`` is tight, and
    a larger one is the remedy; the message says how many tokens the shortest value needs. Or it is many times of what
    the shortest value needs, and the model did not stop by itself: then bounds of the type are the remedy,
    ``Annotated[str, Field(max_length=30)]`` and the like, and the message names a place without one. Where the type has
    bounds everywhere, it is a larger ``max_tokens`` again. ``on_tight="error"`` makes it a ``TightBudgetError``, and
    ``on_tight="ignore"`` says nothing.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


class TightBudgetError(InvalidOutputError):
    """``max_tokens`` decided how a value ended, and the call has ``on_tight="error"``.

    The value would be whole and of its type, and is not returned. ``text`` is what was generated, ``places`` are the
    JSON Pointers of the values that were cut, in the order of the text, and ``pointer`` is the first of them. That one
    took the room: bound it, or raise ``max_tokens``. The message says what ``TightBudgetWarning`` says.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.

    places: tuple[str, ...] = ()
    """JSON Pointers of the values that were cut; the empty one is the whole output, or an object at its top."""


def check_on_tight(on_tight: Any) -> str:
    """The option, by default ``"warn"``. ``ArgumentError`` for another text, ``TypeError`` for what is no text."""
    require(on_tight=(on_tight, "text?"))
    if on_tight not in (None, *_ON_TIGHT):
        raise ArgumentError(
            "on_tight is 'warn', 'ignore' or 'error', what becomes of a value that max_tokens ended, "
            f"not {quoted(on_tight)}"
        )
    return on_tight or "warn"


def is_cut_short(
    index: Guided, tokens: Sequence[int], max_tokens: int, first_bytes: Callable[[], npt.NDArray[np.uint16]]
) -> bool:
    """Whether the budget decided how an output went on, or where it ended."""
    return has_budget_cut(index, tokens, max_tokens, first_bytes, _may_be_reported(index))


def _may_be_reported(index: Guided) -> bool:
    """Whether a warning may say that the budget ended an output that might have gone on. Free text simply ends there,
    and of numbers ``UnboundedNumberWarning`` tells.
    """
    return index.kind != "json_schema" and not is_free_text(index)


def judge_budget(
    index: Guided,
    outputs: Sequence[Sequence[int] | None],
    max_tokens: int,
    first_bytes: Callable[[], npt.NDArray[np.uint16]],
    on_tight: str = "warn",
    room: ContextRoom | None = None,
) -> dict[int, TightBudgetError]:
    """Warn (``TightBudgetWarning``) once if one of ``outputs``, each a sequence of tokens, was cut short; ``None`` is
    one that was not made. With
    ``on_tight="error"`` it does not warn, and returns the errors by the numbers of their outputs. ``room`` is what the
    context left, if that was the budget.
    """
    if on_tight == "ignore":
        return {}
    if room is not None:
        max_tokens = room.left
    cuts: dict[int, list[bytes]] = {}
    reports_ends = on_tight == "error" or _may_be_reported(index)
    for i, tokens in enumerate(outputs):
        if tokens is not None and (found := list(budget_cuts(index, tokens, max_tokens, first_bytes, reports_ends))):
            cuts[i] = found
    if not cuts:
        return {}
    places = {i: _places(found) if index.kind == "json_schema" else ("",) for i, found in cuts.items()}
    if on_tight == "warn":
        which = "" if len(outputs) == 1 else f" (prompts {', '.join(map(str, cuts))})"
        named = tuple(dict.fromkeys(place for one in places.values() for place in one))
        text = _text_of(index, outputs[next(iter(cuts))])
        warn_caller(_message(index, max_tokens, which, named, room, text), TightBudgetWarning)
        return {}
    errors = {}
    for i, cut in places.items():
        text = _text_of(index, outputs[i])
        errors[i] = error = TightBudgetError(_message(index, max_tokens, "", cut, room, text), text)
        error.places, error.pointer = cut, cut[0] if cut else None
        error.finish_reason = "length"
    return errors


def _places(cuts: Sequence[bytes]) -> tuple[str, ...]:
    """The places of JSON that were cut, each once."""
    return tuple(dict.fromkeys(open_place(text.decode("utf-8", "replace")) for text in cuts))


def _text_of(index: Guided, tokens: Sequence[int] | None) -> str:
    return index.vocabulary.decode([*index.guide().tokens, *(tokens or ())]).decode("utf-8", "replace")


def _message(
    index: Guided, max_tokens: int, which: str, places: Sequence[str], room: ContextRoom | None, text: str
) -> str:
    """What happened to a value with this text, and what helps."""
    took = None
    if index.kind == "json_schema":
        # The last tokens of a text may be missing.
        with contextlib.suppress(RecursionError, ValueError):
            took = unbounded_within(json.loads(index.source), json.loads(text))
    needed = index.guide().min_tokens_to_finish()
    shortest = counted(needed, "token")
    larger = f"pass a larger max_tokens, such as {max(2 * max_tokens, needed + 32)}"
    limit = f"max_tokens={max_tokens}"
    if room is not None:
        larger = "shorten the prompt"
        left = counted(room.left, "token")
        limit = f"the room of {left} behind the prompt ({room.prompt} of the context's {room.context})"
    named = [place for place in places if place]
    at = "" if not named else f" at {', '.join(named[:_SHOWN])}{' and others' if len(named) > _SHOWN else ''}"
    if index.kind == "json_schema" and (number := long_fraction(text)):
        digits = len(number.partition(".")[2])
        return (
            f"{limit} ended the value{which}{at}, which is whole, and a number in it has {digits} digits behind the "
            f"point. No bound of a number forbids zeros there, so a larger max_tokens need not help: {_SHORT_NUMBERS}"
        )
    if max_tokens >= max(_AMPLE * needed, needed + 16):
        remedy = _remedy(index, larger, took)
        began = f"{limit} ended the value{which}{at}, which is whole"
        if remedy is None:
            return f"{began}. The type has bounds everywhere, and permits longer values: {larger}"
        return f"the model did not stop by itself, and {began}; the shortest one needs only {shortest}. {remedy}"
    may_be = "with empty texts or short lists" if index.kind == "json_schema" else "before the model would have ended"
    if took is not None:
        larger = f"bound {took}, which took the room, or {larger}"
    return (
        f"{limit} is tight{which}: the value is whole, but it may have been cut short{at}, {may_be}. "
        f"The shortest value alone needs {shortest}: {larger}"
    )


def _remedy(index: Guided, larger: str, took: str | None) -> str | None:
    """What helps against a value that an ample budget ended; ``None`` for a larger budget alone. ``took`` is the place
    without a bound that took the room, where there is one.
    """
    less = "ask for less in the prompt"
    if is_free_text(index):
        return f"{less[0].upper()}{less[1:]}, or {larger}"
    if index.kind == "grammar":
        options = length_remedy(index.source)
        if options is not None:
            return f"{options}; or {less}, or {larger}" if options else f"{less[0].upper()}{less[1:]}, or {larger}"
        return f"Bound the repetitions of the grammar's rules and terminals, {less}, or {larger}"
    if index.kind == "regex":
        return f"Bound the repetitions of the pattern ({{0,30}} in the place of *), {less}, or {larger}"
    place = took
    if place is None and index.kind == "json_schema":
        # What a schema says with other keywords is not looked at, and no bound may be missing there.
        with contextlib.suppress(RecursionError):
            place = unbounded_place(json.loads(index.source))
    if place is None:
        return None
    return f"Bound the texts and lists of the type, beginning with {place}, or {less}"


class BudgetChecks:
    """How a generator with masks of its own judges its budgets."""

    _number_end: NumberEnd

    def check_budget(
        self,
        index: Guided,
        outputs: Sequence[Sequence[int] | None],
        max_tokens: int,
        on_tight: str | None,
        room: ContextRoom | None = None,
    ) -> dict[int, TightBudgetError]:
        """Warn if the budget left one of the outputs no room, or with ``on_tight="error"`` return the errors of those.
        Each output is its tokens, without the prompt, or ``None`` for one that was not made. ``room`` is what
        ``context_room`` says.
        """
        first_bytes = lambda: self._number_end.first_bytes  # noqa: E731
        return judge_budget(index, outputs, max_tokens, first_bytes, on_tight or "warn", room)

    def check_budget_of_one(
        self,
        index: Guided,
        tokens: Sequence[int],
        max_tokens: int,
        on_tight: str | None,
        room: ContextRoom | None = None,
    ) -> None:
        """The same for one output; raises its error."""
        for error in self.check_budget(index, [tokens], max_tokens, on_tight, room).values():
            raise error

    def finish_reason(
        self,
        index: Guided,
        tokens: Sequence[int],
        max_tokens: int,
        room: ContextRoom | None = None,
        *,
        is_text: bool | None = None,
    ) -> Literal["stop", "length"]:
        """Why an output ended: ``"length"`` for text without a form that used up its tokens, and ``"stop"`` for all
        others: they are whole, and warnings say which of them the budget may have shortened. ``is_text`` says of the
        output, in the place of its index, whether it ends in such a text.
        """
        most = max_tokens if room is None else room.left
        has_no_form = is_free_text(index) if is_text is None else is_text
        return "length" if has_no_form and len(tokens) >= most else "stop"

    def context_room(self, prompt: int, max_tokens: int) -> ContextRoom | None:
        """What the context leaves behind a prompt of so many tokens, where that is the budget of a call instead of
        ``max_tokens``.
        """
        return None
