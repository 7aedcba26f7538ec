"""What is raised when a finished text cannot become the value that was asked for."""

from __future__ import annotations

from interlock._core import InterlockError

__all__ = ["InvalidOutputError"]


class InvalidOutputError(InterlockError, ValueError):
    """A text was generated, and it is not a value of the type that was asked for.

    Masks enforce everything that a JSON Schema or a pattern can say. Two things are left: what a class checks in Python
    (pydantic's ``field_validator``, ``__post_init__``), and a server that enforces less than it was asked for, or that
    stops early. Nothing is lost: ``text`` is what was generated, and ``__cause__`` is the error of the class, where
    there is one.

    >>> from interlock.output_types import output_type_of
    >>> try:
    ...     output_type_of(int).parse("seven")
    ... except InvalidOutputError as error:
    ...     print(error.text)
    seven
    """

    text: str
    """The text that was generated."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text

    def __reduce__(self) -> tuple[type[InvalidOutputError], tuple[str, str]]:
        return type(self), (str(self), self.text)
