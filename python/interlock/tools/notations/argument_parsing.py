"""Reads the arguments of a call back, in the encoding of a tool format."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.escapes import unescape
from interlock.tools.notations.schema_types import declared_types, property_schema
from interlock.tools.notations.tool_format import Arguments
from interlock.util.json_pointer import escaped

__all__ = ["PYTHON_WORDS", "Places", "read_arguments", "read_arguments_at", "read_with_places"]

#: What Python writes for values that JSON writes otherwise.
PYTHON_WORDS: dict[str, bool | None] = {"True": True, "False": False, "None": None}

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_BLANK = re.compile(r"\s*")


def read_arguments(arguments: Arguments, text: str, schema: Any = True) -> dict[str, Any]:
    """The arguments that stand in ``text``, which is all that stands between the begin and the end of a call.

    ``schema`` is the JSON Schema of the tool's parameters. It decides what a value without quotes is: ``12`` is a
    string where the schema says string. Without it, what can be read as JSON is JSON. ``ToolFormatError`` for a text
    that is no arguments.

    >>> from interlock.tools import tool_format
    >>> read_arguments(tool_format("gemma_4").arguments, '{city:<|"|>Rome<|"|>,days:3}')
    {'city': 'Rome', 'days': 3}
    """
    values, end = read_arguments_at(arguments, text, 0, schema)
    if text[end:].strip():
        raise ToolFormatError(f"after the arguments stands {text[end : end + 40]!r}")
    return values


def read_arguments_at(arguments: Arguments, text: str, at: int, schema: Any = True) -> tuple[dict[str, Any], int]:
    """The arguments that begin at ``at``, and where they end."""
    try:
        return _read_at(arguments, text, at, schema)
    except RecursionError as error:
        raise ToolFormatError("the arguments are nested too deep") from error


Places: TypeAlias = dict[str, tuple[int, int]]
"""Where values stand, by their JSON Pointers: the first character, and the one behind the last."""


def read_with_places(
    arguments: Arguments, text: str, at: int, schema: Any = True
) -> tuple[dict[str, Any], int, Places]:
    """What ``read_arguments_at`` returns, and the places of the values where they are tagged. There, what is no value
    of the type that the schema asks for is read as a string.
    """
    if arguments.encoding != "tagged":
        return *read_arguments_at(arguments, text, at, schema), {}
    reader = _WithPlaces(arguments, text, schema)
    try:
        return *reader.members(at, schema), reader.places
    except RecursionError as error:
        raise ToolFormatError("the arguments are nested too deep") from error


def _read_at(arguments: Arguments, text: str, at: int, schema: Any) -> tuple[dict[str, Any], int]:
    if arguments.encoding == "tagged":
        return _Tagged(arguments, text, schema).members(at, schema)
    at = _blank(text, at)
    if arguments.encoding == "json":
        try:
            values, at = json.JSONDecoder().raw_decode(text, at)
        except ValueError as error:
            raise ToolFormatError(f"the arguments are not JSON: {error}") from error
        if not isinstance(values, dict):
            raise ToolFormatError("the arguments are JSON, but no object")
        return values, at
    if arguments.encoding == "python":
        return _Python(text, arguments.values == "json").keywords(at)
    if arguments.encoding == "gemma":
        values, at = _Gemma(text, arguments.quote).value(at)
        if not isinstance(values, dict):
            raise ToolFormatError("the arguments are no object")
        return values, at
    assert_never(arguments.encoding)


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


class _Reader:
    """Reads a text of arguments. Methods take a place and return what they read with the place behind it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def expect(self, literal: str, at: int) -> int:
        """The place behind ``literal``, which comes next, blanks aside. ``ToolFormatError`` if it does not."""
        at = _blank(self.text, at)
        if not self.text.startswith(literal, at):
            raise ToolFormatError(f"{literal!r} is needed, and there stands {self.text[at : at + 20]!r}")
        return at + len(literal)

    def comes(self, literal: str, at: int) -> bool:
        """Whether ``literal`` comes next, blanks aside."""
        return self.text.startswith(literal, _blank(self.text, at))

    def number(self, at: int) -> tuple[Any, int]:
        """A number of JSON. ``ToolFormatError`` where none stands."""
        match = _NUMBER.match(self.text, at)
        if not match:
            raise ToolFormatError(f"a value is needed, and there stands {self.text[at : at + 20]!r}")
        return json.loads(match[0]), match.end()


class _Python(_Reader):
    """``a=1, b='x'``. Words of JSON (``true``, ``null``) are read too: models mix them in.

    With ``writes_json`` a value is read as JSON if it can be: JSON's strings have other escapes than Python's.
    """

    def __init__(self, text: str, writes_json: bool) -> None:
        super().__init__(text)
        self.writes_json = writes_json

    def keywords(self, at: int) -> tuple[dict[str, Any], int]:
        """The keyword arguments of a call."""
        values: dict[str, Any] = {}
        while match := _WORD.match(self.text, _blank(self.text, at)):
            at = self.expect("=", match.end())
            values[match[0]], at = self.value(at)
            if not self.comes(",", at):
                break
            at = self.expect(",", at)
        return values, at

    def value(self, at: int) -> tuple[Any, int]:
        """A literal. ``ToolFormatError`` for what is none."""
        at = _blank(self.text, at)
        if self.writes_json:
            with contextlib.suppress(ValueError):
                return json.JSONDecoder().raw_decode(self.text, at)
        if match := _STRING.match(self.text, at):
            try:
                return ast.literal_eval(match[0].replace("\n", "\\n").replace("\r", "\\r")), match.end()
            except (ValueError, SyntaxError) as error:
                raise ToolFormatError(f"{match[0][:40]} is no string of Python: {error}") from error
        if match := _WORD.match(self.text, at):
            if match[0] not in _WORDS:
                raise ToolFormatError(f"{match[0]!r} is no literal")
            return _WORDS[match[0]], match.end()
        for opener, closer in (("[", "]"), ("(", ")")):
            if self.comes(opener, at):
                return self.items(self.expect(opener, at), closer)
        if self.comes("{", at):
            return self.mapping(self.expect("{", at))
        return self.number(at)

    def items(self, at: int, closer: str) -> tuple[list[Any], int]:
        """The elements of a list or a tuple behind its opening mark."""
        items: list[Any] = []
        while not self.comes(closer, at):
            item, at = self.value(at)
            items.append(item)
            if not self.comes(",", at):
                break
            at = self.expect(",", at)
        return items, self.expect(closer, at)

    def mapping(self, at: int) -> tuple[dict[str, Any], int]:
        """The members of a dict behind its opening brace."""
        members: dict[str, Any] = {}
        while not self.comes("}", at):
            key, at = self.value(at)
            members[str(key)], at = self.value(self.expect(":", at))
            if not self.comes(",", at):
                break
            at = self.expect(",", at)
        return members, self.expect("}", at)


class _Gemma(_Reader):
    """``{key:<|"|>text<|"|>,n:1,a:[true]}``."""

    def __init__(self, text: str, quote: str) -> None:
        super().__init__(text)
        self.quote = quote

    def string(self, at: int) -> tuple[str, int]:
        """The text between two of the style's quotes. ``ToolFormatError`` where it is not closed."""
        start = self.expect(self.quote, at)
        end = self.text.find(self.quote, start)
        if end < 0:
            raise ToolFormatError(f"a string is not closed by {self.quote!r}")
        return self.text[start:end], end + len(self.quote)

    def value(self, at: int) -> tuple[Any, int]:
        """A value: a string, an object, an array, a word or a number. ``ToolFormatError`` for anything else."""
        at = _blank(self.text, at)
        if self.comes(self.quote, at):
            return self.string(at)
        if self.comes("{", at):
            return self.members(at + 1)
        if self.comes("[", at):
            return self.items(at + 1)
        if (match := _WORD.match(self.text, at)) and match[0] in _WORDS:
            return _WORDS[match[0]], match.end()
        return self.number(at)

    def members(self, at: int) -> tuple[dict[str, Any], int]:
        """The members of an object behind its opening brace."""
        members: dict[str, Any] = {}
        while not self.comes("}", at):
            at = _blank(self.text, at)
            if self.comes(self.quote, at):
                key, at = self.string(at)
            else:
                end = self.text.find(":", at)
                if end < 0:
                    raise ToolFormatError("a key has no colon")
                key, at = self.text[at:end].strip(), end
            members[key], at = self.value(self.expect(":", at))
            if not self.comes(",", at):
                break
            at = self.expect(",", at)
        return members, self.expect("}", at)

    def items(self, at: int) -> tuple[list[Any], int]:
        """The elements of an array behind its opening bracket."""
        items: list[Any] = []
        while not self.comes("]", at):
            item, at = self.value(at)
            items.append(item)
            if not self.comes(",", at):
                break
            at = self.expect(",", at)
        return items, self.expect("]", at)


class _Tagged(_Reader):
    """Parameters in delimiters of their own; strings are raw."""

    def __init__(self, arguments: Arguments, text: str, root: Any) -> None:
        super().__init__(text)
        self.arguments, self.root = arguments, root
        self.opener = _pattern_of(arguments.begin, arguments.whitespace)
        self.item_opener = _pattern_of(arguments.item_begin, arguments.whitespace) if arguments.nested else None

    def members(self, at: int, schema: Any) -> tuple[dict[str, Any], int]:
        """The parameters from ``at`` on, by their names, as long as one follows another."""
        values: dict[str, Any] = {}
        while match := self.opener.match(self.text, _blank(self.text, at)):
            found = match.groupdict()
            key = unescape(found["key"], self.arguments.key_escape)
            closer = template.fill(self.arguments.end, {"key": found["key"]})
            inner = property_schema(schema, key, self.root)
            values[key], at = self.part(key, match.end(), closer, found.get("type"), inner)
        return values, at

    def part(self, step: str | int, at: int, closer: str, type_text: str | None, schema: Any) -> tuple[Any, int]:
        """The value of the member or the element that ``step`` names."""
        return self.value(at, closer, type_text, schema)

    def value(self, at: int, closer: str, type_text: str | None, schema: Any) -> tuple[Any, int]:
        """The value of a parameter or an element up to its ``closer``, read by its own type text or by the schema."""
        kinds = self.kinds(type_text, schema)
        if self.arguments.nested and (kinds is None or kinds & {"object", "array"}):
            start = _blank(self.text, at)
            if self.item_opener and self.item_opener.match(self.text, start):
                return self.items(at, closer, schema)
            if self.opener.match(self.text, start):
                members, at = self.members(at, schema)
                return members, self.expect(closer, at)
        quoted = self.arguments.string_begin
        if quoted and self.comes(quoted, at) and (kinds is None or "string" in kinds):
            start = self.expect(quoted, at)
            end = self.end_of(start, self.arguments.string_end)
            return self.text[start:end], self.expect(closer, end + len(self.arguments.string_end))
        end = self.end_of(at, closer)
        spelled = (closer.rstrip("\n"), closer.strip("\n"))
        after = next(end + len(one) for one in spelled if self.text.startswith(one, end))
        return self.scalar(self.text[at:end], kinds), after

    def end_of(self, at: int, closer: str) -> int:
        """Where the value that begins at ``at`` ends: the place of its ``closer``. ``ToolFormatError`` where that does
        not come.
        """
        # White space around a delimiter is the writer's habit: the closer is found without its own line ends first.
        end = self.text.find(closer, at)
        if end < 0:
            end = self.text.find(closer.rstrip("\n"), at)
        if self.arguments.line_ends == "optional":
            # The core of the closer stands in no string.
            end = self.text.find(closer.strip("\n"), at)
            if 0 < end > at and self.text[end - 1] == "\n" and closer.startswith("\n"):
                end -= 1
        if end < 0:
            raise ToolFormatError(f"a parameter is not closed by {closer!r}")
        return end

    def items(self, at: int, closer: str, schema: Any) -> tuple[list[Any], int]:
        """The elements of an array in delimiters of their own, up to the ``closer`` of the array."""
        items: list[Any] = []
        inner = schema.get("items", True) if isinstance(schema, Mapping) else True
        while self.item_opener and (match := self.item_opener.match(self.text, _blank(self.text, at))):
            kind = match.groupdict().get("type")
            item, at = self.part(len(items), match.end(), self.arguments.item_end, kind, inner)
            items.append(item)
        return items, self.expect(closer, at)

    def kinds(self, type_text: str | None, schema: Any) -> set[str] | None:
        """The JSON types that a value may have, by its own type text or by the schema; ``None`` for any."""
        if type_text is None:
            return declared_types(schema, self.root)
        named = {
            kind
            for kind, texts in self.arguments.types.items()
            if type_text == texts or (isinstance(texts, list) and type_text in texts)
        }
        if "other" in named:
            named |= {"number", "integer", "boolean", "null", "object", "array"} - set(self.arguments.types)
        return named or None

    def scalar(self, text: str, kinds: set[str] | None) -> Any:
        """The value of a raw text: the text itself where a string may stand, otherwise what JSON reads.
        ``ToolFormatError`` for no JSON.
        """
        if kinds == {"string"}:
            return text
        if self.arguments.nested and not text and kinds is not None and kinds <= {"object", "array"}:
            return {} if "object" in kinds else []
        word = text.strip() if self.arguments.python_words else ""
        if word in PYTHON_WORDS and kinds is not None and kinds & {"boolean", "null"}:
            return PYTHON_WORDS[word]
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            if kinds is not None and "string" not in kinds:
                raise ToolFormatError(f"{text[:40]!r} is no JSON") from None
            return text
        if isinstance(found, str) and (kinds is None or "string" in kinds):
            return text
        return found


class _WithPlaces(_Tagged):
    """Notes where each value stands. What is no value of its type is a string, about which the schema has its say."""

    def __init__(self, arguments: Arguments, text: str, root: Any) -> None:
        super().__init__(arguments, text, root)
        self.places: Places = {}
        self.pointer = ""

    def part(self, step: str | int, at: int, closer: str, type_text: str | None, schema: Any) -> tuple[Any, int]:
        """As that of its base, and ``places`` has the place of the value."""
        outer, self.pointer = self.pointer, f"{self.pointer}/{escaped(str(step))}"
        found, after = self.value(at, closer, type_text, schema)
        ends = (after - len(one) for one in (closer, closer.strip("\n")) if self.text.endswith(one, at, after))
        written = self.text[at : next(ends, after)]
        start = at + len(written) - len(written.lstrip())
        self.places[self.pointer] = (start, start + max(len(written.strip()), 1))
        self.pointer = outer
        return found, after

    def scalar(self, text: str, kinds: set[str] | None) -> Any:
        """As that of its base, and the text where that is no value of its type."""
        try:
            return super().scalar(text, kinds)
        except ToolFormatError:
            return text.strip()


def _pattern_of(delimiter: str, is_loose: bool) -> re.Pattern[str]:
    parts = []
    seen = set()
    for kind, text in template.pieces(delimiter):
        if kind == "text":
            # A line end after a delimiter may be missing, and blanks may stand in its place.
            pieces = re.split("(?<=>)(?=<)", text) if is_loose else [text]
            parts.append(r"\s*".join(re.escape(piece).replace("\\\n", r"(?:\n|\s*)") for piece in pieces))
        elif text in seen:
            parts.append(f"(?P={text})")
        else:
            seen.add(text)
            parts.append(f"(?P<{text}>[^<>/][^<>]*?)" if text == "key" else f'(?P<{text}>[^"<>]*?)')
    return re.compile("".join(parts))
