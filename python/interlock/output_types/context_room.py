"""What a model's context leaves behind a prompt, where that is less than ``max_tokens``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock._core import BudgetError
from interlock.output_types.errors import InvalidOutputError
from interlock.util.plurals import counted

if TYPE_CHECKING:
    from interlock.budget_cuts import Guided

__all__ = ["ContextRoom", "PromptTooLongError", "context_of_mlx", "context_room"]


class PromptTooLongError(BudgetError, InvalidOutputError):
    """The model's context has no room for an output behind a prompt: shorten the prompt.

    It is a ``BudgetError`` whose ``limit`` is the room that is left. It is one prompt's own, so in a batch it is
    handled as an ``InvalidOutputError``: ``row`` is the number of the prompt, ``results`` has the values of the others,
    and ``errors="return"`` puts it in the place of the value. ``text`` is empty, for nothing was generated.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message, text)


@dataclass(frozen=True)
class ContextRoom:
    """The room behind a prompt, which is the budget of an output in the place of ``max_tokens``."""

    prompt: int
    """How many tokens the prompt has."""
    context: int
    """How many tokens the model can look at."""
    left: int
    """How many tokens an output may have."""

    def check(self, index: Guided, what: str = "prompt") -> None:
        """``PromptTooLongError`` if no output has room. ``what`` is what stands in the context."""
        if not self.left:
            raise self.error(what=what)
        try:
            index.guide(max_tokens=self.left)
        except BudgetError as error:
            raise self.error(error, what) from None

    def error(self, cause: BudgetError | None = None, what: str = "prompt") -> PromptTooLongError:
        """``cause``, whose budget is the room, in words that say so. A larger ``max_tokens`` would not help. ``what``
        is what stands in the context.
        """
        needed = getattr(cause, "value", None)
        room = f"room for {counted(self.left, 'token')}" if self.left else "no room"
        why = "" if needed is None else f", but the shortest output that was found needs {counted(needed, 'token')}"
        if cause is not None and needed is None:
            why = ", and no complete output is known that is so short"
        error = PromptTooLongError(
            f"the {what} has {counted(self.prompt, 'token')}, and the model's context of {self.context} has {room} "
            f"behind it{why}: shorten the {what}"
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


def context_of_mlx(model: Any) -> int | None:
    """How many tokens a model of mlx-lm can look at; ``None`` where it does not say."""
    context = getattr(getattr(model, "args", None), "max_position_embeddings", None)
    return context if isinstance(context, int) else None
