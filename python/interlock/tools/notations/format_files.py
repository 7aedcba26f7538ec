"""Reads tool formats: those of ``formats/``, and a user's own files and dictionaries. Every error names its place."""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import os
import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any, get_args

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.format_marks import literal_texts, marks_of
from interlock.tools.notations.format_suggestions import suggested_formats
from interlock.tools.notations.parser_names import format_of_parser, model_of_parser, said_of_parser
from interlock.tools.notations.tool_format import Arguments, CallId, Encoding, Layout, Notation, Reasoning, ToolFormat
from interlock.util.near_words import meant, nearest

__all__ = ["format_hint", "format_names", "formats_meant", "read_arguments_table", "read_format", "tool_format"]

_ESCAPES = ("none", "json", "attribute", "xml")
#: How like a name must be to one that is missing, to be taken for a slip of it: ``text_begin`` is none of ``begin``.
_SLIP = 0.75
_TYPES = ("string", "number", "integer", "boolean", "null", "object", "array", "other")


@functools.cache
def format_names() -> tuple[str, ...]:
    """The names of the formats that come with the package, sorted.

    >>> "qwen3_coder" in format_names()
    True
    """
    folder = importlib.resources.files("interlock.tools") / "formats"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def tool_format(format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat) -> ToolFormat:
    """A tool format by its name, from a TOML file (a path), or from a dictionary with a file's fields.

    A name that vLLM or SGLang gives its parser of calls is a name too, where one format is what the parser reads
    (``glm45``, ``qwen25``). docs/formats.md has them all.

    ``ToolFormatError`` for a name that no format has, and for a file that is not well formed: it names the field.

    >>> tool_format("glm_4_7").families[0]
    'GLM 4.7'
    >>> mine = tool_format({"name": "mine", "notation": [{"begin": "<call ${name}>", "end": "</call>"}]})
    >>> mine.arguments.encoding
    'json'
    """
    if isinstance(format, ToolFormat):
        return format
    if isinstance(format, Mapping):
        return read_format(format, str(format.get("name", "the format")))
    if isinstance(format, os.PathLike):
        return _of_path(pathlib.Path(format))
    if not isinstance(format, str):
        raise ToolFormatError(
            f"a tool format is a name, a path, a dictionary or a ToolFormat, not {type(format).__name__}"
        )
    if (name := format_of_parser(format)) in format_names():
        return _of_package(name)
    hint = format_hint(format, "'")
    if "/" in format or not hint:
        hint += 'format="auto" finds the one of a tokenizer. '
    raise ToolFormatError(
        f"no tool format has the name {format!r}: {hint}interlock.tools.format_names() lists all "
        f"{len(format_names())}; a file is given as a pathlib.Path"
    )


def format_hint(word: str, quote: str = "") -> str:
    """What a message says of a word that names no format: sentences that end with a space, or nothing.

    >>> format_hint("olmo"), format_hint("oak")
    ('did you mean olmo_3? ', '')
    """
    return said_of_parser(word, formats_meant(model_of_parser(word), quote))


def formats_meant(word: str, quote: str = "") -> str:
    """The formats that were probably meant by a word, in the words of a message; empty if it is like none.

    >>> formats_meant("olmo"), formats_meant("nemotron")
    ('olmo_3', 'nemotron_v2 or qwen3_coder (Nemotron 3 Nano)')
    """
    found = suggested_formats(word, map(_of_package, format_names()))
    return " or ".join(f"{quote}{name}{quote}{f' ({model})' if model else ''}" for name, model in found)


@functools.cache
def _of_package(name: str) -> ToolFormat:
    file = importlib.resources.files("interlock.tools") / "formats" / f"{name}.toml"
    return _read_text(file.read_text("utf-8"), f"formats/{name}.toml")


def _of_path(path: pathlib.Path) -> ToolFormat:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolFormatError(f"{path} cannot be read: {error}") from error
    return _read_text(text, str(path))


def _read_text(text: str, where: str) -> ToolFormat:
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ToolFormatError(f"{where} is not TOML: {error}") from error
    return read_format(fields, where)


def read_format(fields: Mapping[str, Any], where: str) -> ToolFormat:
    """A format from the fields of its file. ``where`` names the file in errors."""
    top = _Table(fields, where, "")
    name = top.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        top.refuse("name", f"{name!r} is no name: it has lower-case letters, digits and underscores")
    notations = [_notation(table) for table in top.tables("notation")]
    if not notations:
        top.refuse("notation", f"there is none: a format needs at least one [[notation]]{top.slip_of('notation')}")
    id_table = top.table("id")
    call_id = _call_id(id_table) if id_table else CallId()
    has_id = any("id" in template.placeholders(notation.begin + notation.end) for notation in notations)
    if has_id and not id_table:
        top.refuse("id", "a notation has the placeholder ${id}, and there is no table [id] that says what it is")
    reasoning = top.table("reasoning")
    layout = top.table("layout")
    arguments = top.table("arguments")
    found = ToolFormat(
        name=name,
        title=top.text("title", name),
        notations=tuple(notations),
        arguments=_arguments(arguments) if arguments else Arguments(),
        families=top.texts("families"),
        source=top.text("source", ""),
        name_escape=top.one_of("name_escape", _ESCAPES, "none"),
        reasoning=_reasoning(reasoning) if reasoning else None,
        layout=_layout(layout) if layout else Layout(),
        id=call_id,
        special_tokens=top.texts("special_tokens"),
        signatures=top.groups("signatures"),
        signatures_exclude=top.texts("signatures_exclude"),
    )
    top.done()
    _check_special_tokens(found, top)
    return found


def _check_special_tokens(form: ToolFormat, top: _Table) -> None:
    """Where none of the delimiters holds a text, naming it as a special token means nothing, and is a mistake."""
    texts = tuple(literal_texts(form))
    for token in form.special_tokens:
        if not any(token in text for text in texts):
            hint = meant(token, marks_of(dataclasses.replace(form, special_tokens=())))
            top.refuse("special_tokens", f"{token!r} stands in no delimiter of the format{hint}")


def read_arguments_table(fields: Mapping[str, Any], where: str) -> Arguments:
    """The table ``[arguments]`` alone. ``where`` names it in errors."""
    return _arguments(_Table(fields, where, ""))


def _notation(table: _Table) -> Notation:
    begin = table.template("begin", ("name", "id"))
    end = table.template("end", ("id",), "")
    if "name" not in template.placeholders(begin):
        table.refuse("begin", "it has no ${name}: the name of the tool must stand before the arguments")
    separator = table.take("separator", "")
    if not isinstance(separator, str | list) or not all(isinstance(text, str) for text in separator):
        table.refuse("separator", f"a text or a list of texts is needed, not {separator!r}")
    if isinstance(separator, list) and not separator:
        table.refuse("separator", "the list is empty: leave the field out if nothing stands between two calls")
    separators = [separator] if isinstance(separator, str) else separator
    found = Notation(
        begin=begin,
        end=end,
        section_begin=table.template("section_begin", (), ""),
        section_end=table.template("section_end", (), ""),
        separator=separators[0],
        other_separators=tuple(separators[1:]),
    )
    if not found.section_begin and template.pieces(begin)[0][0] == "placeholder":
        table.refuse("begin", "no text stands before the first placeholder, and section_begin is empty")
    table.done()
    return found


def _call_id(table: _Table) -> CallId:
    found = CallId(
        pattern=table.text("pattern", "[0-9]+"),
        prefix=table.template("prefix", ("name",), ""),
        first=table.number("first", 0),
        example=table.text("example", ""),
    )
    try:
        matches = re.fullmatch(found.pattern, found.of(0))
    except re.error as error:
        table.refuse("pattern", f"{found.pattern!r} is no pattern: {error}")
    if not matches:
        table.refuse("pattern", f"the identifier of the first call, {found.of(0)!r}, does not match {found.pattern!r}")
    table.done()
    return found


def _reasoning(table: _Table) -> Reasoning:
    found = Reasoning(
        table.text("begin"), table.text("end"), table.text("after", ""), table.truth("opened_by_prompt", False)
    )
    if not found.begin or not found.end:
        table.refuse("end" if found.begin else "begin", "it is empty")
    table.done()
    return found


def _layout(table: _Table) -> Layout:
    found = Layout(
        kind=table.one_of("kind", ("text", "blocks", "messages"), "text"),
        text_begin=table.text("text_begin", ""),
        text_end=table.text("text_end", ""),
        preamble_begin=table.text("preamble_begin", ""),
        preamble_end=table.text("preamble_end", ""),
        separator=table.text("separator", ""),
        end=table.text("end", ""),
    )
    if found.kind != "text" and not (found.text_begin and found.text_end):
        table.refuse("text_begin", f"the layout {found.kind!r} needs text_begin and text_end")
    if found.kind == "messages" and not found.separator:
        table.refuse("separator", "the layout 'messages' needs a separator")
    table.done()
    return found


def _arguments(table: _Table) -> Arguments:
    encoding = table.one_of("encoding", get_args(Encoding), None)
    values: dict[str, Any] = {"encoding": encoding}
    if encoding == "tagged":
        values["begin"] = table.template("begin", ("key", "type"))
        values["end"] = table.template("end", ("key",))
        if "key" not in template.placeholders(values["begin"]):
            table.refuse("begin", "it has no ${key}")
        if not values["end"]:
            table.refuse("end", "it is empty, and nothing would end a parameter")
        values["key_escape"] = table.one_of("key_escape", _ESCAPES, "none")
        values["types"] = _types(table)
        values["nested"] = table.truth("nested", False)
        values["item_begin"] = table.template("item_begin", ("type",), "")
        values["item_end"] = table.template("item_end", (), "")
        values["string_begin"] = table.text("string_begin", "")
        values["string_end"] = table.text("string_end", "")
        if bool(values["string_begin"]) != bool(values["string_end"]):
            table.refuse("string_end", "string_begin and string_end go together")
        values["whitespace"] = table.truth("whitespace", False)
        values["python_words"] = table.truth("python_words", False)
        values["line_ends"] = table.one_of("line_ends", ("exact", "optional"), "exact")
        if values["line_ends"] == "optional" and values["nested"]:
            table.refuse("line_ends", "nested arguments have exact line ends")
        has_type = "type" in template.placeholders(values["begin"] + values["item_begin"])
        if has_type != bool(values["types"]):
            table.refuse("types", "a ${type} in begin and a table of types go together")
        if values["nested"] != bool(values["item_begin"]):
            table.refuse("item_begin", "nested arguments and an item_begin go together")
    elif encoding == "gemma":
        values["quote"] = table.text("quote")
        if not values["quote"]:
            table.refuse("quote", "it is empty")
    elif encoding == "python":
        values["values"] = table.one_of("values", ("python", "json"), "python")
        values["objects"] = table.one_of("objects", ("python", "json"), values["values"])
        if values["values"] == "json" and values["objects"] != "json":
            table.refuse("objects", "values that are JSON hold objects that are JSON")
    table.done()
    return Arguments(**values)


def _types(table: _Table) -> dict[str, Any]:
    found = table.take("types", {})
    if not isinstance(found, Mapping):
        table.refuse("types", "a table of texts is needed")
    for key, value in found.items():
        if key not in _TYPES:
            table.refuse("types", f"{key!r} is no type: {', '.join(_TYPES)}")
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) for text in texts):
            table.refuse("types", f"{key} needs a text or a list of texts")
    missing = [name for name in _TYPES[:-1] if name not in found]
    if found and missing and "other" not in found:
        table.refuse("types", f"nothing is said about {', '.join(missing)}: add them, or other")
    return dict(found)


class _Table:
    """The fields of one table, taken one after another; what is left at the end is a mistake."""

    def __init__(self, fields: Any, where: str, path: str) -> None:
        self.where, self.path = where, path
        if not isinstance(fields, Mapping):
            raise ToolFormatError(f"{where}: {path or 'the whole'} must be a table, not {type(fields).__name__}")
        self.fields = dict(fields)
        self.known: list[str] = []

    def refuse(self, field: str, reason: str) -> Any:
        """Raise ``ToolFormatError`` with the file, the field and the reason. The return type lets it stand in an
        expression.
        """
        raise ToolFormatError(f"{self.where}: {self.path + '.' if self.path else ''}{field}: {reason}")

    def take(self, field: str, default: Any) -> Any:
        """The value of a field. ``ToolFormatError`` where it is absent and has no default."""
        self.known.append(field)
        value = self.fields.pop(field, default)
        return value if value is not None else self.refuse(field, f"it is missing{self.slip_of(field)}")

    def slip_of(self, field: str) -> str:
        """The end of a message that this field is missing, with the one that was probably meant to be it."""
        found = [str(other) for other in self.fields if nearest(str(other), [field], _SLIP)]
        return f"; is {found[0]!r} a slip of it?" if found else ""

    def _typed(self, field: str, default: Any, kind: type, words: str) -> Any:
        value = self.take(field, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.refuse(field, f"{words} is needed, not {value!r}")
        return value

    def text(self, field: str, default: str | None = None) -> str:
        """The text of a field; ``ToolFormatError`` for another value."""
        return str(self._typed(field, default, str, "a text"))

    def truth(self, field: str, default: bool) -> bool:
        """The truth value of a field; ``ToolFormatError`` for another value."""
        return bool(self._typed(field, default, bool, "true or false"))

    def number(self, field: str, default: int) -> int:
        """The whole number of a field; ``ToolFormatError`` for another value."""
        return int(self._typed(field, default, int, "a whole number"))

    def texts(self, field: str) -> tuple[str, ...]:
        """The texts of a field, none of them empty; ``ToolFormatError`` for another value."""
        found = self._typed(field, [], list | tuple, "a list of texts")  # type: ignore[arg-type]
        for text in found:
            if not isinstance(text, str) or not text:
                self.refuse(field, f"{text!r} is no text, or empty")
        return tuple(found)

    def groups(self, field: str) -> tuple[tuple[str, ...], ...]:
        """The lists of texts of a field; ``ToolFormatError`` for another value."""
        found = self._typed(field, [], list, "a list of lists of texts")
        return tuple(_Table({field: group}, self.where, self.path).texts(field) for group in found)

    def template(self, field: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """The text of a field with placeholders, all of which are ``allowed``; ``ToolFormatError`` for another one."""
        text = self.text(field, default)
        for word in template.placeholders(text):
            if word not in allowed:
                known = ", ".join(f"${{{name}}}" for name in allowed) or "none"
                self.refuse(field, f"it has the placeholder ${{{word}}}; those that are known here: {known}")
        return text

    def one_of(self, field: str, allowed: tuple[str, ...], default: str | None) -> Any:
        """The value of a field that is one of ``allowed``; ``ToolFormatError`` for another one."""
        value = self.take(field, default)
        if value not in allowed:
            self.refuse(field, f"{value!r} is not one of {', '.join(allowed)}")
        return value

    def table(self, field: str) -> _Table | None:
        """The table of a field; ``None`` where it is absent."""
        self.known.append(field)
        if field not in self.fields:
            return None
        return _Table(self.fields.pop(field), self.where, f"{self.path}.{field}" if self.path else field)

    def tables(self, field: str) -> list[_Table]:
        """The tables of a field, which is a list; ``ToolFormatError`` for another value."""
        found = self._typed(field, [], list, "a list of tables")
        return [_Table(table, self.where, f"{field}[{index}]") for index, table in enumerate(found)]

    def done(self) -> None:
        """``ToolFormatError`` for a field that nobody took, with the name that was probably meant."""
        if self.fields:
            odd = next(iter(self.fields))
            self.refuse(str(odd), f"this field is not known here{meant(odd, self.known)}")
