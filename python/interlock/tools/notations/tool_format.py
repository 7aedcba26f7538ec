"""A tool format: the notation in which one family of models writes tool calls, as data.

Objects of these classes come from files of ``formats/`` or from a user's own file or dictionary
(``interlock.tools.tool_format``). docs/formats.md explains each field with an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.tools.notations import template

__all__ = ["Arguments", "CallId", "Encoding", "Layout", "Notation", "Reasoning", "ToolFormat"]

Escape = Literal["none", "json", "attribute", "xml"]
"""How a name or key is spelled: as it is; as inside a JSON string; with ``&amp;`` and ``&quot;``; and ``&lt;``,
``&gt;`` too."""


Encoding = Literal["json", "python", "tagged", "gemma"]
"""How arguments are written. Type checkers name the places where one of these has no branch."""


@dataclass(frozen=True)
class Reasoning:
    """The part in which the model thinks before it answers."""

    begin: str
    """What opens it."""
    end: str
    """What closes it. It never stands inside."""
    after: str = ""
    """What the model writes between the end and the answer."""
    opened_by_prompt: bool = False
    """Whether the prompt ends with ``begin`` when reasoning is switched on, so that the output starts inside."""


@dataclass(frozen=True)
class Layout:
    """How text, reasoning and calls share one turn.

    ``"text"``: reasoning, then text with calls anywhere in it. ``"blocks"``: reasoning, one block of text, the calls,
    ``end``. ``"messages"``: any number of messages (reasoning, text, a call), joined by ``separator``.
    """

    kind: Literal["text", "blocks", "messages"] = "text"
    text_begin: str = ""
    text_end: str = ""
    preamble_begin: str = ""
    """``"messages"`` only: opens a text that calls follow, where it differs from a final text."""
    preamble_end: str = ""
    separator: str = ""
    end: str = ""
    """Written once, after everything."""


@dataclass(frozen=True)
class Notation:
    """One spelling of a section of calls: ``section_begin call separator call … section_end``."""

    begin: str
    """What stands before the arguments, with the placeholder ``${name}`` and perhaps ``${id}``."""
    end: str
    """What stands after the arguments."""
    section_begin: str = ""
    section_end: str = ""
    separator: str = ""
    """Between two calls of one section."""
    other_separators: tuple[str, ...] = ()
    """Other separators that are allowed there."""


@dataclass(frozen=True)
class CallId:
    """The identifier of a call, where the notation has one."""

    pattern: str = "[0-9]+"
    """A pattern that what stands for ``${id}`` matches."""
    prefix: str = ""
    """What an identifier begins with, where the notation has it in front of ``${id}``; perhaps with ``${name}``."""
    first: int = 0
    """Calls are numbered from here when they are written."""
    example: str = ""
    """Where identifiers are no numbers: one, whose last characters are replaced by the number."""

    def of(self, index: int) -> str:
        """The identifier that is written for the call with this index in its section.

        >>> CallId(pattern="[a-z0-9]{9}", example="call00000").of(12)
        'call00012'
        """
        number = str(self.first + index)
        return self.example[: max(len(self.example) - len(number), 0)] + number

    def prefix_of(self, name: str) -> str:
        """What the identifiers of calls of one tool begin with, by the tool's name as it is written.

        >>> CallId(prefix="functions.${name}:").prefix_of("add")
        'functions.add:'
        """
        return template.fill(self.prefix, {"name": name})


@dataclass(frozen=True)
class Arguments:
    """How arguments are written. docs/formats.md has the meaning of every field, with examples."""

    encoding: Encoding = "json"
    begin: str = ""
    """``tagged``: opens a parameter, with ``${key}`` and perhaps ``${type}``."""
    end: str = ""
    """``tagged``: closes a parameter, perhaps with ``${key}``. A string never contains it."""
    key_escape: Escape = "none"
    """``tagged``: how a key is spelled."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """``tagged``: what ``${type}`` is for each JSON type, or a list of texts of which any may stand; ``other`` is for
    types without an entry of their own."""
    nested: bool = False
    """``tagged``: whether objects and arrays are tagged again, not written as JSON."""
    item_begin: str = ""
    item_end: str = ""
    """``tagged`` and ``nested``: around an element of an array."""
    string_begin: str = ""
    string_end: str = ""
    """``tagged``: around a string that holds ``<`` or a line end. It never contains ``string_end``."""
    whitespace: bool = False
    """``tagged``: whether white space may stand between parameters and around values that are no free strings."""
    python_words: bool = False
    """``tagged``: whether ``True``, ``False`` and ``None`` may stand for ``true``, ``false`` and ``null``."""
    line_ends: Literal["exact", "optional"] = "exact"
    """``tagged``: whether line ends in ``begin`` and ``end`` must be there. Where they are optional, ``whitespace``
    holds too, and a string that stands without them does not begin or end with a line end."""
    quote: str = ""
    """``gemma``: what stands on both sides of a string. A string never contains it."""
    values: Literal["python", "json"] = "python"
    """``python``: how every value is written: ``a=True, b='x'`` or ``a=true, b="x"``. This JSON has no line ends."""
    objects: Literal["python", "json"] = "python"
    """``python``: how objects are written, where other values are Python's: ``{'a': True}`` or ``{"a": true}``."""


@dataclass(frozen=True)
class ToolFormat:
    """The notation in which one family of models writes tool calls.

    >>> from interlock.tools import tool_format
    >>> tool_format("hermes").notations[0].end
    '}\\n</tool_call>'
    """

    name: str
    title: str
    notations: tuple[Notation, ...]
    """The first is the one that is written. All of them are read and allowed."""
    arguments: Arguments = field(default_factory=Arguments)
    families: tuple[str, ...] = ()
    """Models that write this format."""
    source: str = ""
    """Where the facts come from."""
    name_escape: Escape = "none"
    """How the name of a tool is spelled."""
    reasoning: Reasoning | None = None
    layout: Layout = field(default_factory=Layout)
    id: CallId = field(default_factory=CallId)
    special_tokens: tuple[str, ...] = ()
    """Texts of the delimiters that are special tokens in the vocabularies of the families."""
    signatures: tuple[tuple[str, ...], ...] = ()
    """Chat templates of these families contain all texts of at least one group."""
    signatures_exclude: tuple[str, ...] = ()
    """They contain none of these."""
