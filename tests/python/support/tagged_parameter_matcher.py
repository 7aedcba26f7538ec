"""The part of the slow matcher of structural tags that reads parameters in delimiters, in all ways there are."""

from __future__ import annotations

import json
import re

import jsonschema_rs
from interlock.tools.notations import template
from interlock.tools.notations.argument_parsing import PYTHON_WORDS
from interlock.tools.notations.argument_writing import json_type
from interlock.tools.notations.escapes import unescape
from interlock.tools.notations.schema_types import property_schema

PRIVATE = 0xF0000
"""From this character on, characters stand for special tokens."""


class TaggedParameters:
    """Parameters in delimiters: all readings of them, as pairs of value and end."""

    def __init__(self, matcher, node):
        self.matcher, self.node, self.style = matcher, node, node.style
        self.root = closed_schema(node.json_schema) if matcher.closed else node.json_schema
        self.is_lined = self.style.line_ends == "optional"
        self.is_loose = self.style.whitespace or self.is_lined
        begin = self.style.begin.rstrip("\n") if self.is_lined else self.style.begin
        self.opener = self.pattern(begin)
        self.item = self.pattern(self.style.item_begin) if self.style.nested else None

    def pattern(self, delimiter):
        parts, seen = [], set()
        for kind, text in template.pieces(delimiter):
            if kind == "text":
                pieces = re.split("(?<=>)(?=<)", text) if self.style.whitespace else [text]
                pieces = text.split("\n") if self.is_lined else pieces
                parts.append(r"\s*".join(re.escape(self.matcher.coded(piece)) for piece in pieces))
            else:
                group = r"[^<>/\U000F0000-\U000FFFFF][^<>\U000F0000-\U000FFFFF]*?" if text == "key" else "[a-z]*?"
                parts.append(f"(?P={text})" if text in seen else f"(?P<{text}>{group})")
                seen.add(text)
        return re.compile("".join(parts))

    def blank(self, at):
        return re.compile(r"\s*").match(self.matcher.text, at).end() if self.is_loose else at

    def members(self, at, schema):
        """All objects that begin here, longest last."""
        found, todo = [], [({}, at)]
        while todo:
            members, place = todo.pop(0)
            found.append((members, place))
            match = self.opener.match(self.matcher.text, self.blank(place))
            if not match:
                continue
            key = unescape(match["key"], self.style.key_escape)
            if key in members:
                continue
            closer = template.fill(self.style.end, {"key": match["key"]})
            closer = closer.strip("\n") if self.is_lined else closer
            inner = property_schema(schema, key, self.root)
            for value, end in self.value(match.end(), closer, match.groupdict().get("type"), inner):
                todo.append(({**members, key: value}, end))
        return found + [(members, end) for members, place in found if (end := self.blank(place)) != place]

    def value(self, at, closer, type_text, schema):
        text, coded = self.matcher.text, self.matcher.coded(closer)
        stop = text.find(coded, at)
        found = []
        if stop >= 0:
            raw = text[at:stop]
            if not any(ord(char) >= PRIVATE for char in raw):
                strings = {raw, raw.strip()} if self.style.whitespace and schema is not True else {raw}
                if self.is_lined and self.style.begin.endswith("\n"):
                    is_between = len(raw) > 1 and raw[0] == raw[-1] == "\n"
                    strings = {raw[1:-1]} if is_between else {raw} if raw == raw.strip("\n") else set()
                    is_fixed = isinstance(schema, dict) and ("enum" in schema or "const" in schema)
                    strings |= {raw.strip()} if is_fixed else set()
                found += [(string, stop + len(coded)) for string in sorted(strings)]
                try:
                    value = json.loads(raw, object_pairs_hook=members_once)
                    is_plain = self.is_loose or raw == raw.strip()
                    is_container = isinstance(value, dict | list)
                    if is_plain and not isinstance(value, str) and not (self.style.nested and is_container):
                        found.append((value, stop + len(coded)))
                except ValueError:
                    pass
                if self.style.python_words and raw.strip() in PYTHON_WORDS and schema is not True:
                    found.append((PYTHON_WORDS[raw.strip()], stop + len(coded)))
        if self.style.nested:
            start = self.blank(at)
            for members, end in self.members(start, schema):
                end = self.blank(end)
                if text.startswith(coded, end):
                    found.append((members, end + len(coded)))
            for items, end in self.items(start, schema):
                end = self.blank(end)
                if text.startswith(coded, end):
                    found.append((items, end + len(coded)))
        return [(value, end) for value, end in found if self.allowed(value, type_text, schema)]

    def items(self, at, schema):
        found, todo = [], [([], at)]
        inner = schema.get("items", True) if isinstance(schema, dict) else True
        while todo:
            items, place = todo.pop(0)
            found.append((items, place))
            match = self.item.match(self.matcher.text, self.blank(place))
            if match:
                todo += [
                    ([*items, value], end)
                    for value, end in self.value(match.end(), self.style.item_end, match.groupdict().get("type"), inner)
                ]
        return found

    def allowed(self, value, type_text, schema):
        if type_text is not None:
            kind = json_type(value)
            texts = self.style.types.get(kind, self.style.types.get("other"))
            if type_text not in (texts if isinstance(texts, list) else [texts]):
                return False
        if schema is True:
            return True
        whole = {"allOf": [schema], "$defs": self.root.get("$defs", {})} if isinstance(self.root, dict) else schema
        if isinstance(self.root, dict) and "definitions" in self.root:
            whole["definitions"] = self.root["definitions"]
        return jsonschema_rs.is_valid(whole, value)


def members_once(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def closed_schema(schema):
    if isinstance(schema, list):
        return [closed_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: {name: closed_schema(part) for name, part in value.items()}
        if key in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict)
        else closed_schema(value)
        if key not in ("const", "enum", "default", "examples", "required")
        else value
        for key, value in schema.items()
    }
    if "properties" in found and not {"additionalProperties", "unevaluatedProperties"} & set(found):
        found["additionalProperties"] = False
    return found
