"""The keywords of JSON Schema that judge a value by itself: its type, its bounds, its pattern."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from interlock.explain.document import Node
from interlock.explain.validator import Step
from interlock.explain.wording import ARTICLES, brief_literal, either, listed, literal
from interlock.string_formats import FORMATS, broken_rule
from interlock.string_formats.patterns import left_out as left_out_of_regex
from interlock.util.near_words import nearest
from interlock.util.plurals import are, counted


def is_type(node: Node, name: Any) -> bool | None:
    """Whether a value is of a JSON Schema type; ``None`` for a number too large to tell."""
    if name == "integer":
        if node.kind != "number":
            return False
        return None if not isinstance(node.value, Decimal) else whole(node.value)
    return bool(node.kind == name)


def whole(number: Decimal) -> bool:
    """Whether a number has no fraction, however it is written."""
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0 or number == 0:
        return True
    return len(digits) > -exponent and not any(digits[exponent:])


def same(node: Node, value: Any) -> bool | None:
    """Whether a value of the document equals one of the schema; ``None`` where a number is too large to tell."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return node.kind == kind_of(value) and node.value == value
    if isinstance(value, Decimal):
        return node.kind == "number" and (None if node.value is None else node.value == value)
    if isinstance(value, list):
        if node.kind != "array" or len(node.items) != len(value):
            return False
        return _all(same(item, v) for item, v in zip(node.items, value))
    if node.kind != "object" or {m.key for m in node.members} != set(value):
        return False
    return _all(same(member.value, value[member.key]) for member in node.members)


def _all(answers: Any) -> bool | None:
    seen = list(answers)
    return False if False in seen else None if None in seen else True


def kind_of(value: Any) -> str:
    """The type of a value of a schema."""
    if value is None:
        return "null"
    for cls, name in ((bool, "boolean"), (str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, cls):
            return name
    return "number"


def _type(step: Step, names: Any) -> None:
    names = names if isinstance(names, list) else [names]
    answers = [is_type(step.node, name) for name in names]
    if True in answers:
        return
    if None in answers:
        step.out.unsure = True
        return
    wanted = either([ARTICLES.get(str(name), str(name)) for name in names])
    hint = ""
    text = step.node.value
    if step.node.kind == "string" and isinstance(text, str):
        if {"integer", "number"} & set(names) and text.strip().lstrip("-").replace(".", "", 1).isdecimal():
            hint = f"write {text.strip()} without quotes"
        elif text in ("true", "false", "null") and {"boolean", "null"} & set(names):
            hint = f"write {text} without quotes"
    step.problem("type", f"{step.subject}: {wanted} is expected, not {step.given}", hint=hint)


def _enum(step: Step, values: Any) -> None:
    answers = [same(step.node, value) for value in values]
    if True in answers:
        return
    if None in answers:
        step.out.unsure = True
        return
    near = ""
    if isinstance(step.node.value, str):
        near = nearest(step.node.value, [v for v in values if isinstance(v, str)], 0.7)
    hint = f"did you mean {brief_literal(near)}?" if near else ""
    allowed = listed([brief_literal(value) for value in values])
    step.problem("enum", f"{step.subject}: {step.written} is none of the allowed values: {allowed}", hint=hint)


def _const(step: Step, value: Any) -> None:
    answer = same(step.node, value)
    if answer is None:
        step.out.unsure = True
    elif not answer:
        step.problem("const", f"{step.subject}: {step.written} is not {brief_literal(value)}, the only value allowed")


def _bound(keyword: str, breaks: Callable[[Decimal, Decimal], bool], words: str) -> Callable[[Step, Any], None]:
    def rule(step: Step, bound: Any) -> None:
        if step.node.kind != "number" or not isinstance(bound, Decimal):
            return
        if not isinstance(step.node.value, Decimal):
            step.out.unsure = True
            return
        exclusive = step.schema.get("exclusive" + keyword[0].upper() + keyword[1:]) is True
        if breaks(step.node.value, bound) or exclusive and step.node.value == bound:
            said = words
            name = f"{keyword} {literal(bound)}"
            if exclusive:
                said, name = ("not above" if keyword == "minimum" else "not below"), f"{name} (exclusive)"
            step.problem(keyword, f"{step.subject}: {step.written} is {said} {name}")

    return rule


def _multiple(step: Step, divisor: Any) -> None:
    if step.node.kind != "number" or not isinstance(divisor, Decimal):
        return
    number = step.node.value
    if not isinstance(number, Decimal) or max(abs(number.adjusted()), abs(divisor.adjusted())) > 3000:
        step.out.unsure = True
    elif Fraction(number) % Fraction(divisor):
        step.problem("multipleOf", f"{step.subject}: {step.written} is no multiple of {literal(divisor)}")


def _length(keyword: str, word: str, size: Callable[[Node], int], kind: str, noun: str, plural: str) -> Any:
    least = keyword.startswith("min")

    def rule(step: Step, bound: Any) -> None:
        if step.node.kind != kind or not isinstance(bound, Decimal):
            return
        found = size(step.node)
        if found < bound if least else found > bound:
            edge = "at least" if least else "at most"
            has = f"has {counted(found, noun, plural)}"
            step.problem(keyword, f"{step.subject} {has}; {edge} {literal(bound)} {are(bound)} {word} ({keyword})")

    return rule


def _pattern(step: Step, pattern: Any) -> None:
    if step.node.kind != "string" or not isinstance(pattern, str):
        return
    answer = step.all.oracle({"type": "string", "pattern": pattern}, _exact(step))
    if answer is None:
        step.out.unsure = True
    elif not answer:
        step.problem("pattern", f"{step.subject}: {step.written} does not match the pattern {pattern}")


def _format(step: Step, name: Any) -> None:
    if step.node.kind != "string" or not isinstance(name, str) or not step.all.formats:
        return
    answer = step.all.oracle({"type": "string", "format": name}, _exact(step))
    if answer is None:
        step.out.unsure = True
    elif not answer:
        message = f"{step.subject}: {step.written} is no {name} (format)"
        step.problem("format", message + _why_no_format(step, name), hint=FORMATS[name].hint if name in FORMATS else "")


def _why_no_format(step: Step, name: str) -> str:
    """What a text that is not of its format breaks, in the format's own words, or where the engine stops."""
    if rule := broken_rule(name, str(step.node.value)):
        return f": {rule}"
    # The engine's `not` of a format accepts only what is surely not of the format. A text that both the format and
    # its `not` refuse may be valid by the format's standard.
    left_out = step.all.narrower.get((str(step.place), "format"))
    if left_out and step.all.oracle({"type": "string", "not": {"format": name}}, _exact(step)) is False:
        named = left_out_of_regex(str(step.node.value)) if name == "regex" else ""
        return f", or one that interlock leaves out: {named or left_out}"
    text = json.dumps(step.node.value, ensure_ascii=False)
    taken = len(step.all.oracle.taken({"type": "string", "format": name}, text))
    if "\\" in text or not 0 < taken < len(text):
        return ""  # An escape is several characters here and one in the text.
    if taken == len(text) - 1:
        return ": it ends too early"
    return f": {literal(text[taken])} does not fit as character {taken}"


def _exact(step: Step) -> str:
    return step.all.text[step.node.start : step.node.end]


def _text_length(node: Node) -> int:
    return len(node.value) if isinstance(node.value, str) else 0


def _bounds(keyword: str, noun: str, size: Callable[[Node], int], kind: str, plural: str = "") -> dict[str, Any]:
    return {
        f"min{keyword}": _length(f"min{keyword}", "required", size, kind, noun, plural),
        f"max{keyword}": _length(f"max{keyword}", "allowed", size, kind, noun, plural),
    }


def _members(node: Node) -> int:
    return len({member.key for member in node.members})


def _elements(node: Node) -> int:
    return len(node.items)


ASSERTIONS: dict[str, Callable[[Step, Any], None]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("minimum", lambda value, bound: value < bound, "below"),
    "maximum": _bound("maximum", lambda value, bound: value > bound, "above"),
    "exclusiveMinimum": _bound("exclusiveMinimum", lambda value, bound: value <= bound, "not above"),
    "exclusiveMaximum": _bound("exclusiveMaximum", lambda value, bound: value >= bound, "not below"),
    "multipleOf": _multiple,
    **_bounds("Length", "character", _text_length, "string"),
    **_bounds("Properties", "property", _members, "object", "properties"),
    **_bounds("Items", "element", _elements, "array"),
    "pattern": _pattern,
    "format": _format,
}
