"""Reads the JSON of structural tags into the dataclasses of ``nodes``, and refuses what makes no sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.tools.errors import StructuralTagError, ToolFormatError
from interlock.tools.notations.format_files import read_arguments_table
from interlock.tools.notations.tool_format import Arguments
from interlock.tools.spec import nodes
from interlock.tools.spec.checks import check
from interlock.tools.spec.fields import Fields, kind_of
from interlock.tools.spec.styles import STYLES
from interlock.tools.spec.written_places import as_written
from interlock.util.long_numbers import said_of_digits
from interlock.util.near_words import meant
from interlock.util.unique_keys import RepeatedKeyError, loads_unique

__all__ = ["read"]

_DEPTH = 100
_JSON = STYLES["json"]


def read(tag: str | bytes | Mapping[str, Any]) -> nodes.StructuralTag:
    """A structural tag from its JSON: text or the object in it.

    Three forms are read: ``{"type": "structural_tag", "format": …}``, the format alone, and the legacy form with
    ``structures`` and ``triggers``. ``StructuralTagError`` with a JSON Pointer for anything else: a field that is
    missing, unknown or of a wrong type, an empty list where one element is needed, a tag that no trigger or more than
    one fits, an unlimited text that nothing ends. Linear in the size of the tag.

    >>> read({"type": "structural_tag", "format": {"type": "const_string", "value": "yes"}}).format
    ConstString(value='yes')
    """
    if isinstance(tag, str | bytes):
        try:
            tag = loads_unique(tag)
        except RepeatedKeyError as error:
            raise StructuralTagError(str(error), error.pointer) from error
        except (ValueError, RecursionError) as error:
            said = said_of_digits(error) or f"the structural tag is not JSON: {error}"
            raise StructuralTagError(said) from error
    fields = Fields(tag, "", "a structural tag")
    if fields.has("structures"):
        return _checked(nodes.StructuralTag(_legacy(fields), written="structures"))
    if fields.left.get("type") != "structural_tag":
        if isinstance(fields.left.get("type"), str) and fields.left["type"] in _READERS:
            return _checked(nodes.StructuralTag(_format(fields.left, "", 0), written="format"))
        if "type" not in fields.left:
            raise fields.lacks("type")
        fields.refuse("type", f'"structural_tag" or the type of a format is needed, not {fields.left["type"]!r}')
    fields.take("type")
    special = fields.texts("special_tokens")
    found = _format(fields.take("format"), "/format", 0)
    fields.done()
    return check(nodes.StructuralTag(found, special))


def _checked(tag: nodes.StructuralTag) -> nodes.StructuralTag:
    with as_written(tag):
        return check(tag)


def _legacy(fields: Fields) -> nodes.TriggeredTags:
    fields.optional("type", None)
    tags = []
    for index, item in enumerate(fields.items(fields.take("structures"), "structures", empty=False)):
        inner = Fields(item, fields.at("structures", index), "a structure")
        # Servers write out what a client left out: no schema is any JSON.
        schema = inner.take("schema")
        schema = True if schema is None else schema
        if isinstance(schema, str):
            try:
                schema = loads_unique(schema)
            except RepeatedKeyError as error:
                raise StructuralTagError(str(error), inner.at("schema") + error.pointer) from error
            except (ValueError, RecursionError) as error:
                inner.refuse("schema", said_of_digits(error) or f"the schema is not JSON: {error}")
        content = nodes.JsonSchema(_schema(schema, inner.at("schema")))
        tags.append(nodes.Tag(inner.text("begin"), content, (inner.text("end"),)))
        inner.done()
    triggers = fields.texts("triggers", empty=False, required=True)
    # SGLang's addition.
    at_least_one = fields.truth("at_least_one")
    fields.done()
    return nodes.TriggeredTags(triggers, tuple(tags), at_least_one)


def _format(value: Any, pointer: str, depth: int, *, default: str | None = None) -> Any:
    if depth > _DEPTH:
        raise StructuralTagError(f"formats are nested more than {_DEPTH} deep", pointer)
    fields = Fields(value, pointer, "a format")
    kind = fields.optional("type", default)
    if not isinstance(kind, str):
        raise fields.lacks("type")
    if kind not in _READERS:
        said = f"{kind!r} is no type of a format; there are {', '.join(_READERS)}{meant(kind, _READERS)}"
        raise StructuralTagError(said, fields.at("type"), code="unknown_type", subject=kind)
    fields.what = f"a {kind}"
    found = _READERS[kind](fields, depth + 1)
    fields.done()
    return found


def _schema(schema: Any, pointer: str) -> Any:
    if type(schema) is not dict and not isinstance(schema, Mapping | bool):
        raise StructuralTagError(f"a schema is an object or a boolean, not {kind_of(schema)}", pointer)
    return schema


def _style(fields: Fields) -> Arguments:
    value = fields.optional("style", "json")
    if value == "json":
        return _JSON
    if isinstance(value, Mapping):
        try:
            return read_arguments_table(value, "style")
        except ToolFormatError as error:
            fields.refuse("style", str(error))
    if not isinstance(value, str) or value not in STYLES:
        fields.refuse("style", f"{value!r} is no style; there are {', '.join(STYLES)}, or an object with an encoding")
    return STYLES[value]


def _json_schema(fields: Fields, depth: int) -> nodes.JsonSchema:
    return nodes.JsonSchema(
        _schema(fields.take("json_schema"), fields.at("json_schema")),
        _style(fields),
        fields.truth("any_order"),
        fields.texts("excludes"),
        fields.count("max_whitespace_cnt", None),
    )


def _qwen(fields: Fields, depth: int) -> nodes.JsonSchema:
    return nodes.JsonSchema(_schema(fields.take("json_schema"), fields.at("json_schema")), STYLES["qwen_xml"])


def _grammar(fields: Fields, depth: int) -> nodes.GrammarText:
    syntax = fields.optional("syntax", "ebnf")
    if syntax not in ("ebnf", "gbnf", "lark"):
        fields.refuse("syntax", f"{syntax!r} is no syntax of grammars; there are ebnf, gbnf, lark")
    return nodes.GrammarText(fields.text("grammar"), syntax)


def _excludes(fields: Fields) -> tuple[str | nodes.Regex, ...]:
    excludes: list[str | nodes.Regex] = []
    for index, item in enumerate(fields.items(fields.optional("excludes", []), "excludes")):
        if isinstance(item, Mapping):
            inner = Fields(item, fields.at("excludes", index), "an excluded pattern")
            if inner.take("type") != "regex":
                inner.refuse("type", "what a text excludes is a text or a regex")
            excludes.append(nodes.Regex(inner.text("pattern")))
            inner.done()
        elif isinstance(item, str) and item:
            excludes.append(item)
        else:
            reason = "the text is empty" if item == "" else f"a string is needed, not {kind_of(item)}"
            raise StructuralTagError(reason, fields.at("excludes", index))
    return tuple(excludes)


def _any_text(fields: Fields, depth: int) -> nodes.AnyText:
    return nodes.AnyText(_excludes(fields), fields.count("max_tokens", None), fields.count("max_chars", None))


def _any_tokens(fields: Fields, depth: int) -> nodes.AnyTokens:
    return nodes.AnyTokens(fields.tokens("exclude_tokens"), fields.count("max_tokens", None), _excludes(fields))


def _content(fields: Fields, depth: int) -> Any:
    return _format(fields.take("content"), fields.at("content"), depth)


def _elements(fields: Fields, depth: int) -> tuple[Any, ...]:
    found = fields.items(fields.take("elements"), "elements", empty=False)
    return tuple(_format(element, fields.at("elements", index), depth) for index, element in enumerate(found))


def _repeat(fields: Fields, depth: int) -> nodes.Repeat:
    least = fields.count("min", None)
    most = fields.take("max")
    if least is None:
        raise fields.lacks("min")
    if not isinstance(most, int) or isinstance(most, bool) or most < -1:
        fields.refuse("max", f"a whole number from -1 (no bound) is needed, not {most!r}")
    if -1 < most < least:
        fields.refuse("max", f"{most} is less than min, which is {least}")
    return nodes.Repeat(least, most, _content(fields, depth))


def _begin(fields: Fields) -> nodes.Begin:
    value = fields.take("begin")
    if isinstance(value, str):
        return value
    found: nodes.Begin = _delimiter(value, fields.at("begin"), "the begin of a tag")
    return found


def _delimiter(value: Any, pointer: str, what: str) -> Any:
    """A begin or end that is no plain text."""
    inner = Fields(value, pointer, what)
    kind = inner.left.get("type")
    if kind not in ("token", "regex", "sequence", "or"):
        inner.refuse("type", f"{what} is a string, a token, a regex, or a sequence or choice of these, not {kind!r}")
    found = _format(value, pointer, 0)
    _check_delimiter(found, pointer)
    return found


def _check_delimiter(node: Any, pointer: str) -> None:
    if isinstance(node, nodes.Sequence | nodes.Or):
        for index, element in enumerate(node.elements):
            _check_delimiter(element, f"{pointer}/elements/{index}")
    elif isinstance(node, nodes.Tag) and node.event is None:
        if not isinstance(node.content, nodes.AnyText | nodes.AnyTokens):
            raise StructuralTagError("a tag in a delimiter is any text up to another", f"{pointer}/content")
    elif not isinstance(node, nodes.ConstString | nodes.Regex | nodes.AnyText | nodes.Token):
        raise StructuralTagError(
            "a delimiter is made of const_string, regex, any_text, token, and tags of any text", pointer
        )


def _end(fields: Fields) -> nodes.End:
    value = fields.take("end")
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        for index, text in enumerate(fields.items(value, "end", empty=False)):
            if not isinstance(text, str):
                raise StructuralTagError(f"a string is needed, not {kind_of(text)}", fields.at("end", index))
        return tuple(value)
    found: nodes.End = _delimiter(value, fields.at("end"), "the end of a tag")
    return found


def _tag(fields: Fields, depth: int) -> nodes.Tag:
    begin = _begin(fields)
    content = _content(fields, depth)
    return nodes.Tag(begin, content, _end(fields), _event(fields))


def _event(fields: Fields) -> nodes.Event | None:
    if not fields.has("event"):
        fields.optional("event", None)
        return None
    inner = Fields(fields.take("event"), fields.at("event"), "an event")
    kind = inner.text("kind")
    kinds = ("reasoning", "text", "call", "arguments", "argument", "id")
    if kind not in kinds:
        inner.refuse("kind", f"{kind!r} is no kind of event; there are {', '.join(kinds)}")
    name = inner.text("name") if kind in ("call", "argument") or (kind == "id" and inner.has("name")) else ""
    inner.done()
    return nodes.Event(kind, name)  # type: ignore[arg-type]


def _tags(fields: Fields, depth: int) -> tuple[nodes.Tag, ...]:
    found = fields.items(fields.take("tags"), "tags", empty=False)
    tags = []
    for index, value in enumerate(found):
        tag = _format(value, fields.at("tags", index), depth, default="tag")
        if not isinstance(tag, nodes.Tag):
            raise StructuralTagError("a tag is needed here, and no other format", fields.at("tags", index))
        tags.append(tag)
    return tuple(tags)


def _counts(fields: Fields) -> dict[str, Any]:
    least, most = fields.count("min_calls", 0) or 0, fields.count("max_calls", None)
    if most is not None and most < least:
        fields.refuse("max_calls", f"{most} is less than min_calls, which is {least}")
    return {
        "at_least_one": fields.truth("at_least_one"),
        "stop_after_first": fields.truth("stop_after_first"),
        "min_calls": least,
        "max_calls": most,
        "unique": fields.truth("unique"),
    }


def _triggered(fields: Fields, depth: int) -> nodes.TriggeredTags:
    triggers = fields.texts("triggers", empty=False, required=True)
    tags = _tags(fields, depth)
    excludes = fields.texts("excludes")
    return nodes.TriggeredTags(triggers, tags, excludes=excludes, **_counts(fields))


def _token_triggered(fields: Fields, depth: int) -> nodes.TokenTriggeredTags:
    triggers = fields.tokens("trigger_tokens", empty=False, required=True)
    tags = _tags(fields, depth)
    excludes = fields.tokens("exclude_tokens")
    return nodes.TokenTriggeredTags(triggers, tags, exclude_tokens=excludes, **_counts(fields))


def _separated(fields: Fields, depth: int) -> nodes.TagsWithSeparator:
    tags = _tags(fields, depth)
    given = fields.left.get("separator")
    is_list = isinstance(given, list | tuple)
    separator = fields.texts("separator", empty=False, required=True) if is_list else fields.text("separator")
    return nodes.TagsWithSeparator(tags, separator, **_counts(fields))


def _rules(fields: Fields, depth: int, key: Callable[[Any, int], Any]) -> tuple[tuple[Any, Any], ...]:
    rules = []
    for index, rule in enumerate(fields.items(fields.take("rules"), "rules", empty=False)):
        if not isinstance(rule, list | tuple) or len(rule) != 2:
            raise StructuralTagError("a rule is an array [pattern, format]", fields.at("rules", index))
        rules.append((key(rule[0], index), _format(rule[1], fields.at("rules", index, 1), depth)))
    return tuple(rules)


def _dispatch(fields: Fields, depth: int) -> nodes.Dispatch:
    def pattern(value: Any, index: int) -> str:
        if not isinstance(value, str) or not value:
            raise StructuralTagError("a pattern is a text that is not empty", fields.at("rules", index, 0))
        return value

    return nodes.Dispatch(_rules(fields, depth, pattern), fields.truth("loop", True), fields.texts("excludes"))


def _token_dispatch(fields: Fields, depth: int) -> nodes.TokenDispatch:
    rules = _rules(fields, depth, lambda value, index: fields.token(value, "rules", index, 0))
    return nodes.TokenDispatch(rules, fields.truth("loop", True), fields.tokens("exclude_tokens"))


_READERS: dict[str, Callable[[Fields, int], Any]] = {
    "const_string": lambda fields, depth: nodes.ConstString(fields.text("value")),
    "json_schema": _json_schema,
    "qwen_xml_parameter": _qwen,
    "grammar": _grammar,
    "regex": lambda fields, depth: nodes.Regex(fields.text("pattern")),
    "any_text": _any_text,
    "quoted": lambda fields, depth: nodes.Quoted(_content(fields, depth), _style(fields)),
    "token": lambda fields, depth: nodes.Token(fields.token(fields.take("token"), "token")),
    "exclude_token": lambda fields, depth: nodes.ExcludeToken(fields.tokens("exclude_tokens")),
    "any_tokens": _any_tokens,
    "sequence": lambda fields, depth: nodes.Sequence(_elements(fields, depth)),
    "or": lambda fields, depth: nodes.Or(_elements(fields, depth)),
    "optional": lambda fields, depth: nodes.Optional(_content(fields, depth)),
    "plus": lambda fields, depth: nodes.Plus(_content(fields, depth)),
    "star": lambda fields, depth: nodes.Star(_content(fields, depth)),
    "repeat": _repeat,
    "tag": _tag,
    "triggered_tags": _triggered,
    "token_triggered_tags": _token_triggered,
    "tags_with_separator": _separated,
    "dispatch": _dispatch,
    "token_dispatch": _token_dispatch,
}
FORMAT_TYPES = tuple(_READERS)
"""The words that the field ``type`` of a format may be."""
