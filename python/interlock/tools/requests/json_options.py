"""What servers' own fields say of JSON beside the schema: its white space, and whether its objects are closed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock._core import LimitError
from interlock.tools.errors import RequestError
from interlock.tools.spec.fields import is_unicode, kind_of
from interlock.util.closed_schemas import closed
from interlock.util.json_pointer import escaped
from interlock.util.near_words import meant

__all__ = ["OPTIONS", "JsonOptions", "json_options", "whitespace_of_client"]

_WHITESPACE = ("whitespace_pattern", "guided_whitespace_pattern")
_FLAGS = ("disable_any_whitespace", "disable_additional_properties")
OPTIONS = (*_WHITESPACE, *_FLAGS)
"""Fields beside a constraint that change what is meant."""
_BACKENDS = ("backend", "guided_decoding_backend")
_BACKEND_OPTIONS = ("no-fallback", "disable-any-whitespace", "no-additional-properties")
"""What older versions of vLLM take behind the colon of a backend's name: ``guidance:disable-any-whitespace``."""


@dataclass(frozen=True)
class JsonOptions:
    """How the JSON of a request is written, and what its objects may hold."""

    whitespace: str = ""
    """A pattern of the white space, or ``"compact"``; ``""`` where the request does not say."""
    is_closed: bool = False
    """Whether objects have no properties but those that the schema declares."""
    whitespace_place: str = field(default="", repr=False, compare=False)
    """Where the pattern of the white space stands."""

    def schema(self, schema: Any, pointer: str) -> Any:
        """``schema``, closed where this is asked for. ``LimitError`` with ``pointer`` for one that is a text, since it
        is deeper than Python reads.
        """
        if not self.is_closed:
            return schema
        if isinstance(schema, str):
            error = LimitError(
                f"at {pointer}: the schema is nested too deeply for disable_additional_properties: write "
                '"additionalProperties": false into it'
            )
            error.pointer = pointer
            raise error
        return closed(schema)

    def tag(self, tag: Any) -> Any:
        """The JSON object of a structural tag with its schemas closed where this is asked for."""
        return _with_closed_schemas(tag) if self.is_closed else tag


def _with_closed_schemas(part: Any) -> Any:
    if isinstance(part, list):
        return [_with_closed_schemas(one) for one in part]
    if not isinstance(part, Mapping):
        return part
    return {key: closed(one) if key == "json_schema" else _with_closed_schemas(one) for key, one in part.items()}


def json_options(fields: Mapping[str, Any], pointer: str) -> JsonOptions:
    """The options among the fields of a request, which stand at ``pointer``. A pattern of white space counts before
    ``disable_any_whitespace``, as it does in vLLM. ``RequestError`` for one that is not well formed.

    >>> json_options({"regex": "a", "disable_additional_properties": True}, "")
    JsonOptions(whitespace='', is_closed=True)
    >>> json_options({"guided_decoding_backend": "guidance:disable-any-whitespace"}, "").whitespace
    'compact'
    """
    found: dict[str, Any] = {}
    for key in _WHITESPACE:
        if (pattern := fields.get(key)) is not None and pattern is not False:
            if not isinstance(pattern, str):
                raise RequestError(f"a text is needed, not {kind_of(pattern)}", f"{pointer}/{key}")
            if not is_unicode(pattern):
                raise RequestError("the pattern holds a lone surrogate, which is not text", f"{pointer}/{key}")
            found["pattern"] = whitespace_of_client(pattern)
            found["place"] = f"{pointer}/{key}"
    for key in _FLAGS:
        flag = fields.get(key)
        if flag is not None and not isinstance(flag, bool):
            raise RequestError(f"{key} is true or false, not {kind_of(flag)}", f"{pointer}/{key}")
        found[key] = bool(flag)
    for key in _BACKENDS:
        for option in _backend_options(fields.get(key), f"{pointer}/{escaped(key)}"):
            found["disable_any_whitespace"] |= option == "disable-any-whitespace"
            found["disable_additional_properties"] |= option == "no-additional-properties"
    written = found.get("pattern") or ("compact" if found["disable_any_whitespace"] else "")
    return JsonOptions(written, found["disable_additional_properties"], found.get("place", ""))


def whitespace_of_client(pattern: str) -> str:
    """A client's pattern of white space, as an option of ours: one that happens to be a word means itself, and is no
    option that the server has given wrongly.

    >>> whitespace_of_client(" ?"), whitespace_of_client("compact")
    (' ?', '(?:compact)')
    """
    return f"(?:{pattern})" if re.fullmatch(r"\w+", pattern) else pattern


def _backend_options(backend: Any, pointer: str) -> list[str]:
    if not isinstance(backend, str) or ":" not in backend:
        return []
    options = [option.strip() for option in backend.split(":", 1)[1].split(",") if option.strip()]
    odd = next((option for option in options if option not in _BACKEND_OPTIONS), None)
    if odd is not None:
        known = ", ".join(_BACKEND_OPTIONS)
        raise RequestError(f"a backend has no option {odd!r}; there are {known}{meant(odd, _BACKEND_OPTIONS)}", pointer)
    return options
