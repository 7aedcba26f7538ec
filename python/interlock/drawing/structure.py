"""The structure of a JSON Schema as cards: an object's keys and their types, the elements of an array, alternatives.

A card is what deserves a box of its own; everything simple is a few words in a row of another card. A schema that is
used in several places has one card, and rows lead to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from interlock.explain.references import Place, References, enter
from interlock.explain.wording import literal
from interlock.util.quoting import shortened

T = TypeVar("T")
MOST_CARDS = 80
MOST_ROWS = 40
DEEPEST = 60
"""Schemas inside schemas that are followed."""
LONGEST = 44
"""Characters of a type in a row."""
LEAST = 16
"""Characters that a type keeps in a row whose bounds are long."""
MOST_NEEDS = 4
"""Names of ``dependentRequired`` that a card has a note for."""


@dataclass
class Row:
    """One line of a card. ``name`` is a key, an element or empty; ``kind`` colours ``type``; ``forced`` says that the
    text is the only one; ``target`` is the card that it leads to.
    """

    name: str
    type: str
    kind: str = ""
    required: bool = False
    forced: bool = False
    tip: str = ""
    target: int | None = None
    again: bool = False
    """Whether the card that it leads to is drawn elsewhere."""


@dataclass
class Card:
    """A box: a title, what it is, and rows. ``notes`` are conditions that have no row."""

    title: str
    kind: str
    pointer: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Brief:
    """A schema in a few words."""

    type: str
    kind: str = ""
    forced: bool = False
    tip: str = ""
    target: int | None = None
    again: bool = False
    more: list[str] = field(default_factory=list)
    """What goes on in rows of its own: values for which one row is too short."""
    bounds: str = ""
    """The end of ``type`` that is never cut: how long a text or an array is. It is said nowhere else in the row."""


class Cards:
    """The cards of a source; the first is where a reader begins. ``left_out`` is how many more there would be, and
    ``left_out_inside`` how many rows, values and notes those that are drawn have besides. With ``everything`` there are
    none of either.
    """

    def __init__(self, everything: bool = False) -> None:
        self.cards: list[Card] = []
        self.left_out = 0
        self.left_out_inside = 0
        self.everything = everything

    def first_rows(self, parts: Iterable[T]) -> list[T]:
        """As many parts as a card has rows for; the others are counted."""
        listed = list(parts)
        shown = listed if self.everything else listed[:MOST_ROWS]
        self.left_out_inside += len(listed) - len(shown)
        return shown

    def has_room(self) -> bool:
        """Whether one more card is drawn."""
        return self.everything or len(self.cards) < MOST_CARDS


class Structure(Cards):
    """All cards of a schema; the first is the document."""

    def __init__(
        self, schema: Any, documents: dict[str, Any], title: str = "document", everything: bool = False
    ) -> None:
        super().__init__(everything)
        self.references = References(schema, documents)
        self.made: dict[str, int] = {}
        self.open: list[str] = []
        brief = self._brief(schema, Place(), title)
        if brief.target != 0 or brief.type != self.cards[0].title:
            # The document is no card itself: an array, something simple, or one card and null.
            for row in (row for card in self.cards for row in card.rows):
                row.target = None if row.target is None else row.target + 1
            card = Card(title, "document", "")
            self._put(card, "", brief)
            card.rows[0].target = None if brief.target is None else brief.target + 1
            self.cards.insert(0, card)

    def _resolved(self, schema: Any, place: Place) -> tuple[Any, Place, str]:
        """The schema itself instead of a bare reference to it, and the name by which it was referred to."""
        name = ""
        for _ in range(20):
            if not isinstance(schema, dict):
                break
            place = enter(schema, place)
            reference = schema.get("$ref", schema.get("$dynamicRef"))
            others = set(schema) - {"$ref", "$dynamicRef", *SAYS_NOTHING}
            if not isinstance(reference, str) or others:
                break
            found = self.references.find(reference, place)
            if found is None:
                return {"title": reference}, place, reference
            name = reference.rpartition("/")[2].rpartition("#")[2] or name
            schema, place = found
        return schema, place, name

    def _merged(self, schema: dict[str, Any], place: Place, depth: int = 0) -> dict[str, Any]:
        """A schema with what its ``allOf`` and reference say, for a reader: all keys, the first of each keyword."""
        parts = []
        if isinstance(schema.get("$ref"), str) and (found := self.references.find(schema["$ref"], place)):
            parts.append(found)
        for i, part in enumerate(schema.get("allOf", []) if isinstance(schema.get("allOf"), list) else []):
            parts.append((part, place.at("allOf", i)))
        if not parts or depth > 6:
            return schema
        out = {k: v for k, v in schema.items() if k not in ("allOf", "$ref")}
        for part, at in parts:
            part, at, _ = self._resolved(part, at)
            if not isinstance(part, dict):
                continue
            part = self._merged(part, at, depth + 1)
            for key, value in part.items():
                if key == "properties" and isinstance(value, dict):
                    out["properties"] = {**value, **out.get("properties", {})}
                elif key == "required" and isinstance(value, list):
                    out["required"] = [*out.get("required", []), *value]
                elif key in ("anyOf", "oneOf") and key in out:
                    continue
                else:
                    out.setdefault(key, value)
        return out

    def _brief(self, schema: Any, place: Place, title: str) -> Brief:
        schema, place, name = self._resolved(schema, place)
        if schema is False:
            return Brief("nothing")
        if not isinstance(schema, dict) or not schema:
            return Brief("anything")
        key = str(place)
        if key in self.made:
            return Brief(self.cards[self.made[key]].title, "object", target=self.made[key], again=True)
        if key in self.open or len(self.open) > DEEPEST:
            return Brief("the same again" if key in self.open else "...")
        self.open.append(key)
        try:
            return self._described(schema, place, key, name, title)
        finally:
            self.open.pop()

    def _described(self, schema: dict[str, Any], place: Place, key: str, name: str, title: str) -> Brief:
        merged = self._merged(schema, place)
        known = merged.get("title") if isinstance(merged.get("title"), str) else ""
        title = known or name or title
        simple = self._simple(merged)
        if simple is not None:
            return simple
        nullable = self._optional(merged, place, title)
        if nullable is not None:
            return nullable
        for keyword, words in (("oneOf", "exactly one of"), ("anyOf", "one of")):
            parts = merged.get(keyword)
            if isinstance(parts, list) and not merged.get("properties"):
                return self._alternatives(parts, place.at(keyword), key, title, words)
        if _is(merged, "array"):
            return self._array(merged, place, key, title)
        if _is(merged, "object"):
            return self._object(merged, place, key, title)
        return Brief(_type_words(merged) or "anything", tip=_tip(merged))

    def _simple(self, schema: dict[str, Any]) -> Brief | None:
        """A schema of constants or of one scalar type."""
        if "const" in schema:
            value = schema["const"]
            return Brief(shortened(literal(value), LONGEST), _kind(value), True, f"only {literal(value)}")
        if isinstance(schema.get("enum"), list):
            values = [literal(value) for value in schema["enum"]]
            kinds = {_kind(value) for value in schema["enum"]}
            text = " | ".join(values)
            if len(text) > LONGEST:
                shown: list[str] = []
                while len(shown) < len(values) and len(" | ".join([*shown, values[len(shown)]])) < LONGEST - 14:
                    shown.append(values[len(shown)])
                if self.everything:
                    lines = _lines(values)
                    return Brief(lines[0], kinds.pop() if len(kinds) == 1 else "", more=lines[1:])
                self.left_out_inside += len(values) - len(shown)
                text = " | ".join([*shown, f"{len(values) - len(shown)} more"])
            kind = kinds.pop() if len(kinds) == 1 else ""
            return Brief(text, kind, len(values) == 1, "one of " + shortened(", ".join(values), 600))
        names = _types(schema)
        if names and not {"array", "object"} & set(names) and not {"anyOf", "oneOf"} & schema.keys():
            kind = COLOURS.get(next((n for n in names if n != "null"), "null"), "")
            text, bounds = _type_words(schema), _text_bounds(schema)
            return Brief(_cut(text, bounds), kind, names == ["null"], _tip(schema), bounds=bounds)
        return None

    def _optional(self, schema: dict[str, Any], place: Place, title: str) -> Brief | None:
        """Alternatives that are all simple, or of which only one is not: ``Address or null``."""
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if not isinstance(parts, list) or schema.get("properties") or not parts:
                continue
            resolved = [self._resolved(part, place.at(keyword, i)) for i, part in enumerate(parts)]
            simple = [self._simple(self._merged(p, at)) if isinstance(p, dict) else None for p, at, _ in resolved]
            complex_ = [i for i, brief in enumerate(simple) if brief is None]
            words = " or ".join(brief.type for brief in simple if brief is not None)
            if not complex_ and len(words) <= LONGEST:
                kinds = {brief.kind for brief in simple if brief is not None}
                return Brief(words, kinds.pop() if len(kinds) == 1 else "", tip=_tip(schema))
            if len(complex_) == 1 and len(parts) == 2 and len(words) <= 16:
                inner = self._brief(parts[complex_[0]], place.at(keyword, complex_[0]), title)
                bounds = f"{inner.bounds} or {words}"
                text = _cut(f"{inner.type} or {words}", bounds)
                return Brief(text, inner.kind, False, inner.tip, inner.target, inner.again, bounds=bounds)
        return None

    def _put(self, card: Card, name: str, brief: Brief) -> Row:
        """The row of a schema in a few words, put at the end of a card."""
        row = Row(name, brief.type, brief.kind, False, brief.forced, brief.tip, brief.target, brief.again)
        card.rows.append(row)
        card.rows += [Row("", line, brief.kind) for line in brief.more]
        return row

    def _card(self, key: str, title: str, kind: str) -> Card | None:
        if not self.has_room():
            self.left_out += 1
            return None
        self.made[key] = len(self.cards)
        card = Card(shortened(title, LONGEST), kind, key)
        self.cards.append(card)
        return card

    def _alternatives(self, parts: list[Any], place: Place, key: str, title: str, words: str) -> Brief:
        card = self._card(key, title, words)
        if card is None:
            return Brief(words)
        for i, part in enumerate(shown := self.first_rows(parts)):
            label = _discriminator(self._resolved(part, place.at(i))[0]) or f"{title} {i + 1}"
            brief = self._brief(part, place.at(i), label)
            self._put(card, "", brief)
        _more(card, len(parts) - len(shown))
        return Brief(title, "object", target=self.made[key])

    def _array(self, schema: dict[str, Any], place: Place, key: str, title: str) -> Brief:
        prefix = schema.get("prefixItems", schema.get("items") if isinstance(schema.get("items"), list) else None)
        rest = schema.get("items") if not isinstance(schema.get("items"), list) else schema.get("additionalItems", True)
        size = _size(schema, "Items", "element")
        if not isinstance(prefix, list):
            inner = self._brief(rest if rest is not None else True, place.at("items"), title)
            text = f"array of {inner.type}" if inner.type != "anything" else "array"
            more = "".join(
                f", {part}" for part in [size, "all different" if schema.get("uniqueItems") is True else ""] if part
            )
            bounds = (inner.bounds if inner.type != "anything" else "") + more
            text = _cut(text + more, bounds)
            return Brief(text, inner.kind, False, _tip(schema), inner.target, inner.again, bounds=bounds)
        card = self._card(key, title, "array" + (f", {size}" if size else ""))
        if card is None:
            return Brief("array")
        for i, part in enumerate(shown := self.first_rows(prefix)):
            self._put(card, f"[{i}]", self._brief(part, place.at("prefixItems", i), f"{title} {i}"))
        _more(card, len(prefix) - len(shown))
        if rest is False:
            card.notes.append("no other elements")
        elif isinstance(rest, dict) and rest:
            self._put(card, "others", self._brief(rest, place.at("items"), title))
        return Brief(title, "object", target=self.made[key])

    def _object(self, schema: dict[str, Any], place: Place, key: str, title: str) -> Brief:
        properties = _mapping(schema, "properties")
        patterns = _mapping(schema, "patternProperties")
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        size = _size(schema, "Properties", "key")
        alternatives = [k for k in ("oneOf", "anyOf") if isinstance(schema.get(k), list)]
        if not properties and not patterns and not alternatives and not schema.get("required"):
            if others is False:
                return Brief("empty object", "object", True)
            inner = self._brief(others, place.at("additionalProperties"), title)
            text = "object" if inner.type == "anything" else f"object of {inner.type}"
            text += f", {size}" if size else ""
            return Brief(
                shortened(text, LONGEST), inner.kind or "object", False, _tip(schema), inner.target, inner.again
            )
        card = self._card(key, title, "object" + (f", {size}" if size else ""))
        if card is None:
            return Brief("object", "object")
        required = schema.get("required") if isinstance(schema.get("required"), list) else []
        unnamed = {name: True for name in required or [] if name not in properties}
        for name, part in (shown := self.first_rows([*properties.items(), *unnamed.items()])):
            row = self._put(card, name, self._brief(part, place.at("properties", name), name))
            row.required = name in (required or [])
        _more(card, len(properties) + len(unnamed) - len(shown))
        for pattern, part in (shown := self.first_rows(patterns.items())):
            brief = self._brief(part, place.at("patternProperties", pattern), pattern)
            self._put(card, shortened(f"/{pattern}/", 24), brief)
        _more(card, len(patterns) - len(shown))
        for keyword in alternatives:
            words = "and exactly one of" if keyword == "oneOf" else "and one of"
            brief = self._alternatives(schema[keyword], place.at(keyword), f"{key}/{keyword}", words[4:], words[4:])
            self._put(card, words, brief)
        if others is False:
            card.notes.append("no other keys")
        elif isinstance(others, dict) and others:
            self._put(card, "other keys", self._brief(others, place.at("additionalProperties"), title))
        else:
            card.notes.append("other keys: anything")
        dependents = schema.get("dependentRequired")
        needed = list(dependents.items()) if isinstance(dependents, dict) else []
        for name, needs in needed if self.everything else needed[:MOST_NEEDS]:
            card.notes.append(f"{name} needs {', '.join(map(str, needs))}")
        if len(needed) > MOST_NEEDS and not self.everything:
            self.left_out_inside += len(needed) - MOST_NEEDS
            card.notes.append(f"and {len(needed) - MOST_NEEDS} more that need others")
        if "if" in schema:
            card.notes.append(shortened(f"if {literal(schema['if'])} ...", 60))
        if "not" in schema:
            card.notes.append(shortened(f"not {literal(schema['not'])}", 60))
        return Brief(title, "object", target=self.made[key])


SAYS_NOTHING = (
    "title",
    "description",
    "default",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$defs",
)
COLOURS = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "boolean"}


def _mapping(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """The schemas of a keyword by their names."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _more(card: Card, count: int) -> None:
    if count:
        card.rows.append(Row("", f"and {count} more"))


def _lines(values: list[str]) -> list[str]:
    """Values with bars between them, as many on a line as a row is long, and one at least."""
    lines: list[str] = []
    for value in values:
        word = shortened(value, LONGEST)
        if lines and len(lines[-1]) + len(word) + 3 <= LONGEST:
            lines[-1] += f" | {word}"
        else:
            lines.append(word)
    return lines


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "boolean"
    return "string" if isinstance(value, str) else "number" if isinstance(value, (Decimal, int, float)) else "object"


def _types(schema: dict[str, Any]) -> list[str]:
    names = schema.get("type")
    return (
        [n for n in names if isinstance(n, str)]
        if isinstance(names, list)
        else [names]
        if isinstance(names, str)
        else []
    )


def _is(schema: dict[str, Any], kind: str) -> bool:
    if _types(schema):
        return kind in _types(schema)
    keys = {"object": {"properties", "required", "additionalProperties", "patternProperties"},
            "array": {"items", "prefixItems", "minItems", "maxItems", "contains"}}  # fmt: skip
    return bool(keys[kind] & schema.keys())


def _discriminator(schema: Any) -> str:
    """The constant by which an alternative is told from the others."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for part in properties.values() if isinstance(properties, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("const"), str):
            return str(part["const"])
    return ""


def _size(schema: dict[str, Any], keyword: str, noun: str) -> str:
    low, high = schema.get(f"min{keyword}"), schema.get(f"max{keyword}")
    low = None if low == 0 else low
    if low is None and high is None:
        return ""
    plural = noun if (high if high is not None else low) == 1 else f"{noun}s"
    if low == high:
        return f"{low} {plural}"
    if high is None:
        return f"{low} or more {noun}s" if low != 1 else f"at least one {noun}"
    return f"at most {high} {plural}" if low is None else f"{low} to {high} {plural}"


def _cut(text: str, bounds: str) -> str:
    """A type for a row: what stands before its bounds, which end it, is cut where the row is full."""
    before = text.removesuffix(bounds)
    return shortened(before, max(LONGEST - len(bounds), LEAST)) + text[len(before) :]


def _text_bounds(schema: dict[str, Any]) -> str:
    """The end of ``_type_words`` from where it says how long a text is; empty where it does not."""
    size = _size(schema, "Length", "character") if "string" in _types(schema) else ""
    words = _type_words(schema)
    return words[words.rindex(f", {size}") :] if size else ""


def _type_words(schema: dict[str, Any]) -> str:
    """Types and bounds: ``integer >= 1``, ``string, 3 to 10 characters``, ``date-time``."""
    words = []
    for name in _types(schema):
        if name == "string":
            text = str(schema["format"]) if isinstance(schema.get("format"), str) else "string"
            if isinstance(schema.get("pattern"), str):
                text += f" /{schema['pattern']}/"
            size = _size(schema, "Length", "character")
            words.append(text + (f", {size}" if size else ""))
        elif name in ("integer", "number"):
            words.append(name + _range(schema))
        else:
            words.append(name)
    return " or ".join(words)


def _range(schema: dict[str, Any]) -> str:
    signs = {"minimum": "\u2265", "exclusiveMinimum": ">", "maximum": "\u2264", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {literal(schema[k])}" for k, sign in signs.items() if isinstance(schema.get(k), Decimal)]
    step = schema.get("multipleOf")
    out = "".join(f" {bound}" for bound in bounds)
    if "minimum" in schema and "maximum" in schema and len(bounds) == 2:
        out = f" {literal(schema['minimum'])} to {literal(schema['maximum'])}"
    return out + (f", multiple of {literal(step)}" if isinstance(step, Decimal) else "")


def _tip(schema: dict[str, Any]) -> str:
    """What a reader may want to know beyond a few words: the description, and the schema."""
    about = schema.get("description")
    shown = {k: v for k, v in schema.items() if k not in ("description", "$defs", "definitions", "properties")}
    text = shortened(literal(shown), 300) if shown else ""
    return "\n".join(part for part in (about if isinstance(about, str) else "", text) if part)


def loads(text: str) -> Any:
    """A schema with its numbers as they are written."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)
