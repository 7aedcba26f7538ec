"""Errors of the core, with what to do about them in a call of a generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from interlock._core import BudgetError, UnsupportedError

__all__ = ["error_hints"]

_DOCUMENTS = "pass it in `documents`"
_UNDER_DEFS = 'put it into the schema: under "$defs", with that URI as its "$id"'
_BACKREFERENCE = (
    "write the repeated texts out, (?:aa|bb|cc), if there are few; or generate the part once, and repeat it in "
    "Python: a Program writes a part, and then program += part"
)


@contextlib.contextmanager
def error_hints(max_tokens: int | None = None) -> Iterator[None]:
    """Add to an error, once, what helps in a call whose budget is ``max_tokens``. The error stays the same object."""
    try:
        yield
    except BudgetError as error:
        needed = getattr(error, "value", None)
        own = max_tokens is not None and error.limit == max_tokens
        if own and isinstance(needed, int) and "pass max_tokens" not in str(error):
            error.args = (f"{error}: pass max_tokens={needed} or more",)
        raise
    except UnsupportedError as error:
        if error.hint == _DOCUMENTS:
            error.args = (str(error).replace(_DOCUMENTS, _UNDER_DEFS),)
            error.hint = _UNDER_DEFS
        if error.code == "backreference" and error.hint != _BACKREFERENCE:
            said = str(error)
            error.args = (said.replace(error.hint, _BACKREFERENCE) if error.hint else f"{said}\n{_BACKREFERENCE}",)
            error.hint = _BACKREFERENCE
        raise
