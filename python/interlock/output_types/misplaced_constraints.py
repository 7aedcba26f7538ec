"""Patterns, grammars and indexes where a type is needed, or beside one.

Each of them is an output type of its own. Inside of another type pydantic knows none of them: it ignores what stands
beside a type in ``Annotated``, so the value would be free, and it fails with an error about its own inside elsewhere.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Final,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

from interlock._core import ArgumentError, Index, UnsupportedError
from interlock.grammars.grammar_text import GrammarText
from interlock.output_types.grammar import Grammar
from interlock.output_types.python_types.field_places import pointer_of_place

__all__ = ["refuse_misplaced"]

_WHOLE = (Grammar, Index, GrammarText)
_OWN_SCHEMA = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")


def refuse_misplaced(hint: Any) -> None:
    """``UnsupportedError`` for a pattern, a grammar or an index inside of the type ``hint``, with the way on;
    ``ArgumentError`` for the class ``Grammar`` itself.

    >>> refuse_misplaced(Annotated[str, re.compile("a+")])
    Traceback (most recent call last):
        ...
    interlock.UnsupportedError: the pattern 'a+' beside a type would be ignored: write \
Annotated[str, Field(pattern='^(?:a+)$')]
    """
    if hint is Grammar:
        raise ArgumentError("this is the class Grammar, and not a grammar: pass interlock.Grammar(text)")
    for odd, is_beside, place in _odd_parts(hint, "", set()):
        error = UnsupportedError(_message(odd, is_beside, place.lstrip(".")))
        if place:
            error.pointer = pointer_of_place(place.lstrip("."))
        raise error


def _message(odd: Any, is_beside: bool, place: str) -> str:
    at = f" at {place}" if place else ""
    if isinstance(odd, re.Pattern):
        text = odd.pattern.decode("latin-1") if isinstance(odd.pattern, bytes) else odd.pattern
        whole = repr(f"^(?:{text})$") if len(text) <= 60 else '"…"'
        said = "beside a type would be ignored" if is_beside else "is no type"
        return f"the pattern {text[:60]!r}{at} {said}: write Annotated[str, Field(pattern={whole})]"
    kind = "an Index" if odd is Index or isinstance(odd, Index) else "a Grammar"
    return (
        f"{kind} is a whole output; it can't stand inside JSON{at}: pass it as the output type itself, or write "
        'Annotated[str, Field(pattern="…")] here'
    )


def _odd_parts(hint: Any, place: str, seen: set[int]) -> Iterator[tuple[Any, bool, str]]:
    """What is misplaced in a type: itself, whether it stands beside a type, and its place."""
    if isinstance(hint, (re.Pattern, *_WHOLE)) or any(hint is one for one in _WHOLE):
        yield hint, False, place
        return
    origin = get_origin(hint)
    if origin is Annotated:
        yield from _annotated(hint.__origin__, hint.__metadata__, place, seen)
    elif origin in (Union, types.UnionType, Required, NotRequired, Final):
        for part in get_args(hint):
            yield from _odd_parts(part, place, seen)
    elif isinstance(origin, type) and not _is_of_fields(origin):
        parts, step = get_args(hint), "[]"
        if issubclass(origin, Mapping):
            parts, step = parts[-1:], "{}"
        for part in parts:
            yield from _odd_parts(part, place + step, seen)
    elif _is_of_fields(hint) and id(hint) not in seen:
        seen.add(id(hint))
        for name, inner, beside in _fields(hint):
            yield from _annotated(inner, beside, f"{place}.{name}", seen)


def _annotated(hint: Any, beside: Sequence[Any], place: str, seen: set[int]) -> Iterator[tuple[Any, bool, str]]:
    """The same of a type with what stands beside it. What brings a schema of its own decides what is written."""
    if any(hasattr(one, name) for one in beside for name in _OWN_SCHEMA):
        return
    yield from ((one, True, place) for one in beside if isinstance(one, (re.Pattern, *_WHOLE)))
    yield from _odd_parts(hint, place, seen)


def _is_of_fields(hint: Any) -> bool:
    return isinstance(hint, type) and (
        hasattr(hint, "model_fields")
        or dataclasses.is_dataclass(hint)
        or hasattr(hint, "__total__")
        or hasattr(hint, "_fields")
    )


def _fields(owner: Any) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    """The fields of a class that are written: name, type, and what stands beside the type."""
    known = getattr(owner, "model_fields", None)
    if isinstance(known, Mapping):
        for name, field in known.items():
            yield name, getattr(field, "annotation", None), getattr(field, "metadata", ())
        return
    try:
        hints = get_type_hints(owner, include_extras=True)
    except Exception:  # noqa: BLE001 - names that cannot be resolved have errors of their own
        return
    for name in (
        [one.name for one in dataclasses.fields(owner) if one.init] if dataclasses.is_dataclass(owner) else hints
    ):
        yield name, hints.get(name), ()
