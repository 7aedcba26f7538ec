"""The formats of which a structural tag is made, as dataclasses. docs/formats.md says what each accepts.

The names and fields are those of XGrammar 0.2.8's JSON. Fields that are ours are marked *addition*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from interlock.tools.notations.tool_format import Arguments

__all__ = [
    "AnyText",
    "AnyTokens",
    "Begin",
    "ConstString",
    "Dispatch",
    "End",
    "Event",
    "ExcludeToken",
    "Format",
    "GrammarText",
    "JsonSchema",
    "Optional",
    "Or",
    "Plus",
    "Quoted",
    "Regex",
    "Repeat",
    "Sequence",
    "Star",
    "StructuralTag",
    "Tag",
    "TagForm",
    "TagsWithSeparator",
    "Token",
    "TokenDispatch",
    "TokenRef",
    "TokenTriggeredTags",
    "TriggeredTags",
]

TokenRef: TypeAlias = int | str
"""A token by its id, or by the exact text of a special token."""


@dataclass(frozen=True)
class ConstString:
    """Exactly this text."""

    value: str


@dataclass(frozen=True)
class JsonSchema:
    """A value that follows a JSON Schema, written in a style."""

    json_schema: Any
    style: Arguments = field(default_factory=Arguments)
    """``json`` or an encoding of arguments. In JSON it is one of nine names, or (*addition*) an object with the fields
    of ``[arguments]`` in a file of a tool format."""
    any_order: bool = False
    """Whether members of objects may stand in any order. Required members and uniqueness hold either way."""
    excludes: tuple[str, ...] = ()
    """Texts that stand in no string and no name of a property."""
    max_whitespace_cnt: int | None = None


@dataclass(frozen=True)
class GrammarText:
    """A text of a grammar's language."""

    grammar: str
    syntax: Literal["ebnf", "gbnf", "lark"] = "ebnf"
    """*Addition.* The language in which the grammar is written."""


@dataclass(frozen=True)
class Regex:
    """A text that matches a pattern as a whole."""

    pattern: str
    flags: str = field(default="", repr=False)
    """Letters of Python's flags. A server decides them, and no structural tag has a field for them."""


@dataclass(frozen=True)
class AnyText:
    """Any text without the excluded ones. What may follow it ends it: the end of the tag around it never stands in
    it."""

    excludes: tuple[str | Regex, ...] = ()
    """Texts, or (*addition*) patterns. One that begins with ``^`` says how the text does not begin."""
    max_tokens: int | None = None
    max_chars: int | None = None


@dataclass(frozen=True)
class Quoted:
    """*Addition.* A string, written in a style (JSON with its escapes, Python, Gemma's quotes, raw), whose text
    ``content`` accepts."""

    content: Format
    style: Arguments = field(default_factory=Arguments)


@dataclass(frozen=True)
class Token:
    """One token."""

    token: TokenRef


@dataclass(frozen=True)
class ExcludeToken:
    """One token that is none of these."""

    exclude_tokens: tuple[TokenRef, ...] = ()


@dataclass(frozen=True)
class AnyTokens:
    """Any number of tokens, none of which is one of these."""

    exclude_tokens: tuple[TokenRef, ...] = ()
    max_tokens: int | None = None
    excludes: tuple[str | Regex, ...] = ()
    """*Addition.* As in ``AnyText``: what stands in no text between special tokens."""


@dataclass(frozen=True)
class Sequence:
    """All elements, one after another."""

    elements: tuple[Format, ...]


@dataclass(frozen=True)
class Or:
    """One of the elements."""

    elements: tuple[Format, ...]


@dataclass(frozen=True)
class Optional:
    """The content, or nothing."""

    content: Format


@dataclass(frozen=True)
class Plus:
    """The content once or more often."""

    content: Format


@dataclass(frozen=True)
class Star:
    """The content any number of times."""

    content: Format


@dataclass(frozen=True)
class Repeat:
    """The content at least ``min`` and at most ``max`` times; ``max = -1`` sets no bound."""

    min: int
    max: int
    content: Format


@dataclass(frozen=True)
class Event:
    """*Addition.* What the inside of a tag is for a reader of the output."""

    kind: Literal["reasoning", "text", "call", "arguments", "argument", "id"]
    """``arguments``, ``argument`` and ``id`` stand inside the tag of a call, and say which parts of it are that."""
    name: str = ""
    """The tool that is called, or the argument; of ``id`` what the identifier begins with, in front of the text."""


Begin: TypeAlias = str | Token | Regex | Sequence | Or
"""What opens a tag: a text, a token, or (*addition*) a pattern, or a sequence or choice of texts, tokens, patterns."""
End: TypeAlias = tuple[str, ...] | Token | Regex | Sequence | Or
"""What closes a tag: one of several texts, a token, or (*addition*) as for ``Begin``. An empty text closes it without
writing anything."""


@dataclass(frozen=True)
class Tag:
    """``begin content end``."""

    begin: Begin
    content: Format
    end: End
    event: Event | None = None
    """*Addition.*"""


@dataclass(frozen=True)
class TriggeredTags:
    """Any text, until a trigger appears in it: there one of the tags whose begin starts with the trigger follows.

    *Addition:* triggers may be longer than the begin and reach into the content (``[add(`` for a begin ``[``)."""

    triggers: tuple[str, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool = False
    """Whether a tag must come, and that without any text before it."""
    stop_after_first: bool = False
    """Whether everything ends with the first tag."""
    excludes: tuple[str, ...] = ()
    min_calls: int = 0
    """*Addition.* How many tags must come; text may stand before them."""
    max_calls: int | None = None
    """*Addition.* How many may. After the last one, text goes on in which no trigger appears."""
    unique: bool = False
    """*Addition.* Whether each tag (each tool, where tags are calls) comes at most once."""


@dataclass(frozen=True)
class TokenTriggeredTags:
    """The same over tokens: any tokens, until one of the trigger tokens appears."""

    trigger_tokens: tuple[TokenRef, ...]
    tags: tuple[Tag, ...]
    exclude_tokens: tuple[TokenRef, ...] = ()
    at_least_one: bool = False
    stop_after_first: bool = False
    min_calls: int = 0
    max_calls: int | None = None
    unique: bool = False


@dataclass(frozen=True)
class TagsWithSeparator:
    """Tags and nothing else, with the separator between two of them."""

    tags: tuple[Tag, ...]
    separator: str | tuple[str, ...]
    """A text, or (*addition*) one of several."""
    at_least_one: bool = False
    stop_after_first: bool = False
    min_calls: int = 0
    max_calls: int | None = None
    unique: bool = False


@dataclass(frozen=True)
class Dispatch:
    """Any text, until one of the patterns (plain texts) appears in it: there the format beside it follows."""

    rules: tuple[tuple[str, Format], ...]
    loop: bool = True
    """Whether text and patterns go on behind that."""
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TokenDispatch:
    """The same over tokens."""

    rules: tuple[tuple[TokenRef, Format], ...]
    loop: bool = True
    exclude_tokens: tuple[TokenRef, ...] = ()


Format: TypeAlias = (
    ConstString
    | JsonSchema
    | GrammarText
    | Regex
    | AnyText
    | Quoted
    | Token
    | ExcludeToken
    | AnyTokens
    | Sequence
    | Or
    | Optional
    | Plus
    | Star
    | Repeat
    | Tag
    | TriggeredTags
    | TokenTriggeredTags
    | TagsWithSeparator
    | Dispatch
    | TokenDispatch
)
"""Any format of a structural tag."""


TagForm: TypeAlias = Literal["whole", "format", "structures"]
"""In which of the three forms a structural tag was written."""


@dataclass(frozen=True)
class StructuralTag:
    """A whole structural tag: ``{"type": "structural_tag", "format": …}``."""

    format: Format
    special_tokens: tuple[str, ...] = ()
    """*Addition.* Texts in delimiters that mean the special token with this text, where the vocabulary has one."""
    written: TagForm = field(default="whole", compare=False)
    """In which of the three forms it was written: as above, its format alone, or with ``structures`` and
    ``triggers``."""

    def place_as_written(self, pointer: str) -> str:
        """Where ``pointer`` into the form above leads in the form that was written.

        >>> tag = StructuralTag(AnyText(), written="structures")
        >>> tag.place_as_written("/format/tags/1/content/json_schema/type")
        '/structures/1/schema/type'
        """
        if self.written == "format":
            return pointer.removeprefix("/format")
        if self.written == "structures":
            pointer = re.sub(r"^/format/tags/(\d+)/content/json_schema", r"/structures/\1/schema", pointer)
            pointer = re.sub(r"^/format/tags/", "/structures/", pointer)
            return pointer.removeprefix("/format")
        return pointer
