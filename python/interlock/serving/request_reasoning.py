"""Whether the output of a request has reasoning, and how much: by the server's settings, by the call, by the body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock._core import ArgumentError
from interlock.tools.errors import RequestError
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.spec.fields import kind_of
from interlock.util.argument_types import require
from interlock.util.client_messages import of_program, with_hint

__all__ = ["check_reasoning", "reasoning_of"]

_FIELD = "max_reasoning_tokens"
_MOST = (1 << 32) - 1


def check_reasoning(has_format: bool, form: ToolFormat | None, options: Mapping[str, Any]) -> None:
    """``TypeError`` for an option of another type, ``ArgumentError`` for a word that ``reasoning`` does not have, for
    reasoning without a format, and for options of reasoning that nothing would read.
    """
    require(
        reasoning_is_open=(options["reasoning_is_open"], "flag?"),
        max_reasoning_tokens=(options[_FIELD], "count?"),
    )
    if not isinstance(options["reasoning"], str) or options["reasoning"] not in ("none", "optional", "required"):
        raise ArgumentError(f'reasoning is "none", "optional" or "required", not {options["reasoning"]!r:.80}')
    if not has_format and options["reasoning"] != "none":
        raise ArgumentError("reasoning needs a format, which says how the model writes it")
    if options[_FIELD] is not None and options[_FIELD] < 1:
        raise ArgumentError(f'{_FIELD} is a whole number from 1, not {options[_FIELD]}: reasoning="none" turns it off')
    for name in ("reasoning_is_open", _FIELD):
        if options[name] is None:
            continue
        if options["reasoning"] == "none":
            raise ArgumentError(
                f'{name} is given, and reasoning is "none": pass reasoning="optional" or "required"; '
                'compile(body, reasoning="none") turns it off for one request'
            )
        if form is not None and form.reasoning is None:
            raise ArgumentError(f"{name} is given, and the format {form.name} has no reasoning")


def reasoning_of(
    settings: Mapping[str, Any],
    body: Mapping[str, Any],
    reasoning: str | None,
    is_open: bool | None,
    *,
    has_format: bool,
    form: ToolFormat | None,
    is_read: bool,
) -> dict[str, Any]:
    """The options of reasoning of one request. ``settings`` are those of the server, ``reasoning`` and ``is_open`` what
    the call says, and ``max_reasoning_tokens`` of the body makes the server's number smaller. ``is_read`` says whether
    the output is read for reasoning: that of a client's structural tag is not.

    ``ArgumentError``, for which no client is to blame, for a call that contradicts itself. ``RequestError`` for a field
    of the body that is no number, or that nothing would read.
    """
    found = dict(settings)
    if reasoning is not None:
        found["reasoning"] = reasoning
    if is_open is not None:
        found["reasoning_is_open"] = is_open
    if found["reasoning"] == "none":
        # The server's settings are those of its other requests.
        found |= {"reasoning_is_open": is_open, _FIELD: None}
    try:
        check_reasoning(has_format, form, found)
    except ArgumentError as error:
        raise of_program(error) from None
    if body.get("reasoning_is_open") is not None:
        raise RequestError("the server says this, and no request does: leave it out", "/reasoning_is_open")
    asked = body.get(_FIELD)
    if asked is None:
        return found
    if not isinstance(asked, int) or isinstance(asked, bool):
        raise RequestError(f"{_FIELD} is a whole number from 1, not {kind_of(asked)}", f"/{_FIELD}")
    if asked < 1:
        said = f"{_FIELD} is a whole number from 1: it makes reasoning shorter, and the chat template turns it off"
        hint = 'compile(body, reasoning="none") is for a request whose chat template turned it off'
        raise with_hint(RequestError(said, f"/{_FIELD}"), hint)
    if not is_read:
        raise RequestError(f"the structural tag says what the reasoning is: leave {_FIELD} out", f"/{_FIELD}")
    if found["reasoning"] == "none" or (form is not None and form.reasoning is None):
        raise RequestError(f"the output of this request has no reasoning: leave {_FIELD} out", f"/{_FIELD}")
    found[_FIELD] = min(asked, found[_FIELD] or _MOST)
    return found
