"""How a structural tag's grammar says what its parts are: the names of its events.

A name is a kind and further words, percent-encoded: ``call``, ``named get_weather``, ``arguments tagged``,
``member string city``. ``interlock.events`` reads them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

from interlock.tools.notations.tool_format import Arguments
from interlock.tools.spec import nodes

__all__ = ["encoding_of", "holds_events", "marks_arguments", "read_event", "style_of", "written_event"]

#: What the names of events begin with, where the engine reports captures.
MARK = "\x01"

# A union that is written where it is asked for is made with each call.
_OF_ELEMENTS = nodes.Sequence | nodes.Or
_OF_TAGS = nodes.TriggeredTags | nodes.TokenTriggeredTags | nodes.TagsWithSeparator
_OF_RULES = nodes.Dispatch | nodes.TokenDispatch
_REPEATED = nodes.Optional | nodes.Plus | nodes.Star | nodes.Repeat
_STYLED = nodes.JsonSchema | nodes.Quoted


@functools.lru_cache(maxsize=4096)
def written_event(kind: str, *words: str) -> str:
    """The name of an event.

    >>> written_event("member", "string", "a b")
    'member string a%20b'
    """
    return " ".join((kind, *(word if _PLAIN(word) else quote(word, safe="") for word in words)))


#: What stands for itself.
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*").fullmatch


def read_event(name: str) -> tuple[str, ...]:
    """The kind and the words of the name of an event.

    >>> read_event("member string a%20b")
    ('member', 'string', 'a b')
    """
    return tuple(unquote(word) for word in name.split(" "))


def holds_events(node: Any) -> bool:
    """Whether some tag inside a format has an event, or is a tag that reports its content."""
    if isinstance(node, nodes.Tag):
        return True
    if isinstance(node, _OF_ELEMENTS):
        return any(map(holds_events, node.elements))
    if isinstance(node, _OF_TAGS):
        return bool(node.tags)
    if isinstance(node, _OF_RULES):
        return any(holds_events(content) for _, content in node.rules)
    if isinstance(node, _REPEATED):
        return holds_events(node.content)
    return False


def marks_arguments(node: Any) -> bool:
    """Whether a format, the inside of a call, says itself which part of it is the arguments."""
    if isinstance(node, nodes.Tag):
        return node.event is not None and node.event.kind in ("arguments", "argument") or marks_arguments(node.content)
    if isinstance(node, _OF_ELEMENTS):
        return any(map(marks_arguments, node.elements))
    if isinstance(node, _REPEATED):
        return marks_arguments(node.content)
    return False


#: The fields of an encoding without which its arguments cannot be read back: the event has their values.
_READ_BY = {"gemma": ("quote",), "python": ("values",)}


def encoding_of(node: Any) -> tuple[str, ...]:
    """In which encoding a format writes arguments: the words of the event."""
    if isinstance(node, _STYLED):
        return (node.style.encoding, *(getattr(node.style, name) for name in _READ_BY.get(node.style.encoding, ())))
    if isinstance(node, nodes.Tag):
        return encoding_of(node.content)
    if isinstance(node, nodes.Sequence):
        return next((found for one in node.elements if (found := encoding_of(one)) != ("any",)), ("any",))
    return ("any",)


def style_of(words: Sequence[str]) -> Arguments:
    """The encoding that ``encoding_of`` named, as far as reading its arguments needs it.

    >>> style_of(("gemma", "<|")).quote
    '<|'
    """
    encoding, *values = words
    return Arguments(encoding, **dict(zip(_READ_BY.get(encoding, ()), values, strict=True)))  # type: ignore[arg-type]
