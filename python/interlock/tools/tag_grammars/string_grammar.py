"""Strings under a schema, written raw or between quotes, as terminals of a grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock._core import UnsupportedError
from interlock.tools.tag_grammars.grammar_text import ANY, without
from interlock.tools.tag_grammars.grammar_text import pattern as whole_pattern

__all__ = ["STRING_WORDS", "python_string", "raw_string"]

_DATE = (
    r"(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
    r"02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|"
    r"(?:[02468][048]|[13579][26])00)-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PART = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"

#: Formats as patterns. Seconds of 60 and the rarer forms of addresses are left out: what is written here is valid.
FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}[Tt]{_TIME}",
    "uuid": r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": rf"{_BYTE}(?:\.{_BYTE}){{3}}",
    "email": rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*",
    "hostname": rf"{_LABEL}(?:\.{_LABEL}){{0,3}}",
    "uri": (
        rf"[A-Za-z][A-Za-z0-9+.-]*:(?://{_LABEL}(?:\.{_LABEL})*(?::[0-9]{{1,5}})?(?:/{_PART}*)*|"
        rf"{_PART}+(?:/{_PART}*)*)(?:\?(?:{_PART}|[/?])*)?(?:#(?:{_PART}|[/?])*)?"
    ),
}

#: One escape of Python that stands for one character.
_PYTHON_ESCAPE = r"""\\(?:[\\'"nrt]|x[0-9A-Fa-f]{2}|u(?:[0-9a-cefA-CEF][0-9A-Fa-f]{3}|[dD][0-7][0-9A-Fa-f]{2}))"""

#: What a schema says about strings.
STRING_WORDS = ("minLength", "maxLength", "pattern", "format")


def _conditions(schema: Mapping[str, Any], pointer: str) -> list[str]:
    """The terminals that a string follows, besides the one of all strings."""
    found = []
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least or most is not None:
        found.append(f"/.{{{int(least)},{'' if most is None else int(most)}}}/s")
    if "pattern" in schema:
        found.append(_searched(str(schema["pattern"])))
    name = schema.get("format")
    if name is not None:
        if name not in FORMATS:
            raise UnsupportedError(
                f"at {pointer}/format: the format {name!r} of a string without quotes cannot be enforced; there are "
                f"{', '.join(FORMATS)}"
            )
        found.append(whole_pattern(FORMATS[name]))
    return found


def _alternatives(source: str) -> list[str]:
    """The alternatives at the top level of a pattern."""
    parts, start, depth, is_class, at = [], 0, 0, False, 0
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif is_class:
            is_class = char != "]"
        elif char == "[":
            is_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and not depth:
            parts.append(source[start:at])
            start = at + 1
        at += 1
    return [*parts, source[start:]]


def _searched(source: str) -> str:
    """The texts in which a pattern of a schema finds something."""
    parts = _alternatives(source)
    if len(parts) > 1:
        return "(" + " | ".join(map(_searched, parts)) + ")"
    inner = whole_pattern(source)
    before = "" if source.startswith("^") else f"{ANY} "
    is_ended = source.endswith("$") and not inner.endswith("\\$/")
    after = "" if is_ended else f" {ANY}"
    return f"({before}{inner}{after})"


def _all_of(parts: Sequence[str]) -> str:
    return " & ".join(parts)


def raw_string(schema: Any, pointer: str, closers: Sequence[str]) -> str:
    """A terminal: a string of ``schema`` as it is, in which none of ``closers`` stands."""
    conditions = _conditions(schema, pointer) if isinstance(schema, Mapping) else []
    return _all_of([*conditions, without(closers)])


def python_string(schema: Any, pointer: str) -> str:
    """A terminal: a string of ``schema`` between Python's quotes, without U+0000, which no source of Python has."""
    schema = schema if isinstance(schema, Mapping) else {}
    most = schema.get("maxLength")
    bounds = f"{{{int(schema.get('minLength', 0))},{'' if most is None else int(most)}}}"
    conditions = _conditions({key: schema[key] for key in ("pattern", "format") if key in schema}, pointer)
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
