"""Writes the dataclasses of a structural tag as JSON objects: the inverse of ``read``."""

from __future__ import annotations

import dataclasses
from typing import Any

from interlock.tools.notations.tool_format import Arguments
from interlock.tools.spec import nodes
from interlock.tools.spec.styles import style_name

__all__ = ["style_json", "write"]

_TYPES: dict[type, str] = {
    nodes.ConstString: "const_string",
    nodes.JsonSchema: "json_schema",
    nodes.GrammarText: "grammar",
    nodes.Regex: "regex",
    nodes.AnyText: "any_text",
    nodes.Quoted: "quoted",
    nodes.Token: "token",
    nodes.ExcludeToken: "exclude_token",
    nodes.AnyTokens: "any_tokens",
    nodes.Sequence: "sequence",
    nodes.Or: "or",
    nodes.Optional: "optional",
    nodes.Plus: "plus",
    nodes.Star: "star",
    nodes.Repeat: "repeat",
    nodes.Tag: "tag",
    nodes.TriggeredTags: "triggered_tags",
    nodes.TokenTriggeredTags: "token_triggered_tags",
    nodes.TagsWithSeparator: "tags_with_separator",
    nodes.Dispatch: "dispatch",
    nodes.TokenDispatch: "token_dispatch",
}


def write(tag: nodes.StructuralTag) -> dict[str, Any]:
    """The JSON object of a structural tag. Fields with their default values are left out.

    >>> write(nodes.StructuralTag(nodes.Star(nodes.ConstString("a"))))["format"]
    {'type': 'star', 'content': {'type': 'const_string', 'value': 'a'}}
    """
    found: dict[str, Any] = {"type": "structural_tag", "format": _json(tag.format)}
    if tag.special_tokens:
        found["special_tokens"] = list(tag.special_tokens)
    return found


def style_json(style: Arguments) -> str | dict[str, Any]:
    """A style's name, or an object with the fields that differ from their defaults."""
    return style_name(style) or {"encoding": style.encoding, **_changed(style, ("encoding",))}


def _json(value: Any) -> Any:
    if isinstance(value, Arguments):
        return style_json(value)
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    if isinstance(value, nodes.Event):
        return {"kind": value.kind, **({"name": value.name} if value.name else {})}
    if type(value) in _TYPES:
        return {"type": _TYPES[type(value)], **_changed(value)}
    return value


def _changed(value: Any, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    fields = {}
    for field in dataclasses.fields(value):
        found = getattr(value, field.name)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if field.name in skip or (default is not dataclasses.MISSING and found == default):
            continue
        if field.name == "end" and isinstance(found, tuple) and len(found) == 1:
            fields["end"] = found[0]
        elif field.name in ("json_schema", "types"):
            fields[field.name] = found
        else:
            fields[field.name] = _json(found)
    return fields
