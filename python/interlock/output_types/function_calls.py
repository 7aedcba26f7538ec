"""A call of one of several functions: which one a model chose, and the arguments that it wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = ["FunctionCall"]

T = TypeVar("T")


@dataclass(frozen=True)
class FunctionCall(Generic[T]):
    """The function that a model chose of a list of functions, with its arguments. Nothing has been called yet:
    ``call()`` calls it and returns what it returns.

    Example::

        call = gen("What is 2 plus 3?", [add, multiply], max_tokens=60)
        print(call.name, call.arguments, call())
    """

    name: str
    """The function's name."""
    arguments: dict[str, Any]
    """What the model wrote for its parameters, of their types. Parameters with a default may be missing."""
    function: Callable[..., T]
    """The function itself."""

    def __call__(self) -> T:
        """Call the function with the arguments."""
        return self.function(**self.arguments)
