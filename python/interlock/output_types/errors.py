"""What is raised when a finished text cannot become the value that was asked for."""

from __future__ import annotations

from typing import Any

from interlock._core import InterlockError

__all__ = ["InvalidOutputError", "raised_by_class"]


class InvalidOutputError(InterlockError, ValueError):
    """A text was generated, and it is not a value of the type that was asked for.

    Masks enforce everything that a JSON Schema or a pattern can say. Two things are left: what a class checks in Python
    (pydantic's ``field_validator``, ``__post_init__``), and a server that enforces less than it was asked for, or that
    stops early. Nothing is lost: ``text`` is what was generated, and ``__cause__`` is the error of the class, where
    there is one. ``pointer`` is the place in the value that the class refused, where pydantic says it.

    >>> from interlock.output_types import output_type_of
    >>> try:
    ...     output_type_of(int).parse("seven")
    ... except InvalidOutputError as error:
    ...     print(error.text)
    seven
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.

    text: str
    """The text that was generated."""
    row: int | None
    """In a batch, which of its prompts it is about, counted from zero; otherwise ``None``."""
    results: list[Any] | None
    """In a batch that raised this error, what came of each prompt: a value, or an ``InvalidOutputError``."""

    finish_reason: str | None
    """Why the model stopped, in OpenAI's words: ``"stop"``, ``"length"`` and what else a server says. ``None`` where
    that is not known."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.finish_reason = None
        self.text = text
        self.row = self.results = None

    def __reduce__(self) -> tuple[type[InvalidOutputError], tuple[str, str], dict[str, Any]]:
        return type(self), (str(self), self.text), {**self.__dict__, "args": self.args}

    def of_row(self, row: int) -> InvalidOutputError:
        """This error, as that of one prompt of a batch: the message begins with the number."""
        self.row, self.args = row, (f"prompt {row} of the batch: {self}",)
        return self


def raised_by_class(error: Exception, name: str, text: str) -> InvalidOutputError:
    """The error for what a class's own code raised, whatever it is: the texts of a batch cost more than one validator,
    and a ``KeyError`` in it must not lose them.
    """
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return InvalidOutputError(f"{name} refuses the value that was generated: it raised {said}", text)
