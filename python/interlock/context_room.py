"""What a model's context leaves behind a prompt, where that is less than ``max_tokens``."""

from __future__ import annotations

from dataclasses import dataclass

from interlock._core import BudgetError, Index
from interlock.plurals import counted

__all__ = ["ContextRoom", "context_room"]


@dataclass(frozen=True)
class ContextRoom:
    """The room behind a prompt, which is the budget of an output in the place of ``max_tokens``."""

    prompt: int
    """How many tokens the prompt has."""
    context: int
    """How many tokens the model can look at."""
    left: int
    """How many tokens an output may have."""

    def check(self, index: Index) -> None:
        """``BudgetError`` if no output has room."""
        if not self.left:
            raise self.error()
        try:
            index.guide(max_tokens=self.left)
        except BudgetError as error:
            raise self.error(error) from None

    def error(self, cause: BudgetError | None = None) -> BudgetError:
        """``cause``, whose budget is the room, in words that say so. A larger ``max_tokens`` would not help."""
        needed = getattr(cause, "value", None)
        room = f"room for {counted(self.left, 'token')}" if self.left else "no room"
        why = "" if needed is None else f", but the shortest output that was found needs {counted(needed, 'token')}"
        if cause is not None and needed is None:
            why = ", and no complete output is known that is so short"
        error = BudgetError(
            f"the prompt has {counted(self.prompt, 'token')}, and the model's context of {self.context} has {room} "
            f"behind it{why}: shorten the prompt"
        )
        error.limit, error.value = self.left, needed
        return error


def context_room(prompt: int, context: int | None, max_tokens: int, reserved: int = 0) -> ContextRoom | None:
    """The room behind a prompt of so many tokens; ``None`` where ``max_tokens`` is no more than that, and where the
    context's length is not known. ``reserved`` tokens of the context are not the output's.

    >>> context_room(90, 100, 200).left
    10
    >>> context_room(90, 100, 5)
    """
    if context is None or context - prompt - reserved >= max_tokens:
        return None
    return ContextRoom(prompt, context, max(0, context - prompt - reserved))
