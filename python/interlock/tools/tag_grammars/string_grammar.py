"""Strings under a schema, written raw or between quotes, as terminals of a grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.string_formats import FORMATS
from interlock.tools.tag_grammars.grammar_text import without, written_json

__all__ = ["STRING_WORDS", "may_hold", "python_string", "raw_string"]

#: One escape of Python that stands for one character.
_PYTHON_ESCAPE = r"""\\(?:[\\'"nrt]|x[0-9A-Fa-f]{2}|u(?:[0-9a-cefA-CEF][0-9A-Fa-f]{3}|[dD][0-7][0-9A-Fa-f]{2}))"""

#: What a schema says about strings.
STRING_WORDS = ("minLength", "maxLength", "pattern", "format")


def may_hold(schema: Any, text: str) -> bool:
    """Whether ``text`` may stand in a string of ``schema``, as far as its format says.

    >>> may_hold({"format": "uri"}, "</a>"), may_hold({"format": "regex"}, "</a>")
    (False, True)
    """
    name = schema.get("format") if isinstance(schema, Mapping) else None
    # Most formats hold neither < nor a line end, so that nothing need keep them out.
    return name not in FORMATS or FORMATS[name].holds_delimiters or not set(text) & set("<\n")


def _conditions(schema: Mapping[str, Any], words: Sequence[str] = STRING_WORDS) -> list[str]:
    """The terminals that a string follows, besides the one of all strings: what the JSON string of the schema says."""
    said = {word: schema[word] for word in words if schema.get(word) is not None}
    name = said.get("format")
    if name not in FORMATS:
        said.pop("format", None)  # JSON Schema does not know it, so that it asserts nothing here as in a JSON string.
    said |= {word: int(said[word]) for word in ("minLength", "maxLength") if word in said}
    return [f"%json_text {written_json(said)}"] if said else []


def _all_of(parts: Sequence[str]) -> str:
    return " & ".join(parts)


def raw_string(schema: Any, closers: Sequence[str]) -> str:
    """A terminal: a string of ``schema`` as it is, in which none of ``closers`` stands."""
    conditions = _conditions(schema) if isinstance(schema, Mapping) else []
    if not conditions:
        return without(closers)
    needed = [text for text in closers if may_hold(schema, text)]
    return without(needed, _all_of(conditions))


def python_string(schema: Any) -> str:
    """A terminal: a string of ``schema`` between Python's quotes, without U+0000, which no source of Python has."""
    schema = schema if isinstance(schema, Mapping) else {}
    most = schema.get("maxLength")
    bounds = f"{{{int(schema.get('minLength', 0))},{'' if most is None else int(most)}}}"
    conditions = _conditions(schema, ("pattern", "format"))
    found = []
    for quote in "'\"":
        if conditions:
            # The text stands for itself: it has neither quotes nor backslashes.
            plain = f"/[^{quote}\\\\\\n\\r\\x00]{bounds}/"
            found.append(
                f'"{chr(92) if quote == chr(34) else ""}{quote}" ({_all_of([*conditions, plain])}) '
                f'"{chr(92) if quote == chr(34) else ""}{quote}"'
            )
        else:
            found.append(f"/{quote}(?:[^{quote}\\\\\\n\\r\\x00]|{_PYTHON_ESCAPE}){bounds}{quote}/")
    return " | ".join(found)
