"""Why the engine refuses a document that its schema accepts: order of keys, blanks, spelling.

The specification leaves these open and a generator must decide them (docs/json-schema.md, *Writing*). Each reason is
found with the engine: with that option changed, it reads on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import interlock
from interlock.explain.document import BLANKS, Node
from interlock.explain.validator import Problem
from interlock.explain.wording import literal, subject

LONGEST_RUN = 64
Compile = Callable[..., interlock.Index]


def reasons(
    text: str, document: Node | None, at: int, compiled: Compile, options: dict[str, Any], report: list[Any]
) -> Iterator[Problem]:
    """Reasons in how the document is written for a refusal at the character ``at``; none if nothing is found."""
    begin = len(text) - len(text.lstrip(BLANKS))
    if at < begin or text[at:].strip(BLANKS) == "" and at < len(text) and document is not None and at >= document.end:
        yield _written("whitespace", "no blanks may stand before or after the document", at, len(text) if at else begin)
        return
    if document is not None and (twice := _repeated(document, at)):
        yield twice
        return
    reached = reach(compiled(), text)
    loosened = {"property_order": "any", "whitespace": "flexible", "spelling": "any"}
    for option, value in loosened.items():
        if options[option] == value or option == "spelling" and options[option] is None and _is_loose(options):
            continue
        changed = {option: value}
        if option == "whitespace" and options["spelling"] is None:
            changed["spelling"] = "any" if _is_loose(options) else "constants"
        try:
            further = reach(compiled(**changed), text)
        except interlock.InterlockError:
            continue
        if further > reached:
            yield _option(option, text, document, at, options)
            return
    run = re.compile(f"[{BLANKS}]{{{LONGEST_RUN + 1},}}").search(text, max(0, at - LONGEST_RUN - 1))
    if run is not None and run.start() <= at <= run.end():
        more = f"a run of {run.end() - run.start()} blanks; at most {LONGEST_RUN} may follow each other"
        way = 'whitespace="[ \\t\\n\\r]*" takes runs of any length'
        yield _written("whitespace", more, run.start(), run.end(), way)
        return
    if document is not None:
        yield from _value(text, document, at, report, compiled)


def reach(index: interlock.Index, text: str) -> int:
    """How many bytes of a text an index over bytes reads; one more if the text is whole then."""
    guide = index.guide()
    data = text.encode()
    taken = guide.advance_many(list(data))
    return taken + (taken == len(data) and guide.is_accepting)


def _is_loose(options: dict[str, Any]) -> bool:
    return options["whitespace"] not in ("compact", "spaced")


def _written(keyword: str, message: str, start: int, end: int, hint: str = "", pointer: str = "") -> Problem:
    return Problem(pointer, keyword, "", message, start, end, end, hint)


def _option(option: str, text: str, document: Node | None, at: int, options: dict[str, Any]) -> Problem:
    if option == "property_order":
        pointer, member = _key_at(document, at)
        if member is None:  # Where the text breaks off behind a key, it is that of no member yet.
            pointer, member = _lone_key_at(document, text, at)
        name = f"`{member[0]}`" if member else "this key"
        if member is None and (found := _member_at(document, at)):
            pointer, member = found
            # Among alternatives one may need a key first, and its value then shows that it did not come.
            name = f"`{member[0]}`" if not pointer else f"`{member[0]}`, or a key around it,"
        message = f"{name} does not come in the order in which the schema declares the keys"
        span = member[1:] if member else (at, at + 1)
        return _written(option, message, *span, 'property_order="any" takes every order', pointer)
    if option == "whitespace":
        mode = options["whitespace"]
        words = {"compact": "no blanks may stand between tokens", "spaced": "one blank stands after : and , alone"}
        message = (
            f"the blanks are not those of whitespace={literal(mode)}: {words.get(mode, 'the pattern does not fit')}"
        )
        end = at
        while end < len(text) and text[end] in BLANKS:
            end += 1
        return _written(option, message, at, max(end, at + 1), 'whitespace="flexible" takes any blanks')
    pointer, member = _key_at(document, at)
    begin, end = member[1:] if member else (at, at + 1)
    for where, node in document.walk() if document is not None and not member else ():
        if node.start <= at <= node.end and node.kind in ("string", "number"):
            pointer, begin, end = where, node.start, node.end
    mode = options["spelling"] or "constants"
    message = f"{text[begin:end]} is not spelled as json.dumps writes it (spelling {mode})"
    return _written("spelling", message, begin, end, 'spelling="any" takes every spelling', pointer)


def _key_at(document: Node | None, at: int) -> tuple[str, tuple[str, int, int] | None]:
    for pointer, node in document.walk() if document is not None else ():
        for member in node.members:
            if member.start <= at <= member.end:
                return pointer, (member.key, member.start, member.end)
    return "", None


def _lone_key_at(document: Node | None, text: str, at: int) -> tuple[str, tuple[str, int, int] | None]:
    """The key that is written around a place of an open object, without a value."""
    around = [(where, node) for where, node in document.walk() if node.start < at <= node.end] if document else []
    if not around or around[-1][1].kind != "object":
        return "", None
    where, node = around[-1]
    begin = max([node.start + 1, *(member.value.end for member in node.members)])
    for found in _STRING.finditer(text, begin):
        if found.start() < at <= found.end():
            return where, (json.loads(found[0], strict=False), found.start(), found.end())
    return "", None


_STRING = re.compile(r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')


def _member_at(document: Node | None, at: int) -> tuple[str, tuple[str, int, int]] | None:
    """The innermost member whose value holds a place or ends there."""
    found = None
    for pointer, node in document.walk() if document is not None else ():
        for member in node.members:
            if member.start <= at <= member.value.end:
                found = pointer, (member.key, member.start, member.end)
    return found


def _repeated(document: Node, at: int) -> Problem | None:
    for pointer, node in document.walk():
        seen, before = set(), node.end
        for member in node.members:
            # Where no key is left, the comma before it is refused.
            if member.key in seen and before <= at <= member.end:
                where = f" in {subject(pointer)}" if pointer else ""
                message = f"`{member.key}` is given twice{where}; keys do not repeat"
                return _written("properties", message, member.start, member.end, pointer=pointer)
            seen.add(member.key)
            before = member.value.end
    return None


def _value(text: str, document: Node, at: int, report: list[Any], compiled: Compile) -> Iterator[Problem]:
    """A number or a string that is valid, written or chosen as the engine does not write it."""
    for pointer, node in document.walk():
        if node.items or node.members or not node.start <= at <= node.end:
            continue
        if node.kind == "number":
            hint, written = "", text[node.start : node.end]
            rows = [r for r in report if r.enforcement == "narrower" and r.keyword in NUMBERS]
            if isinstance(node.value, Decimal) and abs(node.value.adjusted()) < 30:
                plain = format(node.value, "f")
                plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
                hint = f"write {plain}"
                begin = text[: node.start] + plain
                if reach(compiled(), begin + text[node.end :]) <= len(begin.encode()):
                    if any(r.keyword == "multipleOf" for r in rows) and len(plain.strip("-").replace(".", "")) > KEPT:
                        yield _written("multipleOf", _long_decimal(pointer), node.start, node.end, "", pointer)
                    elif len(fraction := plain.partition(".")[2]) > MOST_FRACTION:
                        message = f"{subject(pointer)}: {len(fraction)} digits behind the point; "
                        message += f"at most {MOST_FRACTION} are written"
                        begin = text[: node.start] + plain[: MOST_FRACTION - len(fraction)]
                        is_way = reach(compiled(), begin + text[node.end :]) > len(begin.encode())
                        hint = "round the number; no option takes more" if is_way else ""
                        yield _written("numbers", message, node.start, node.end, hint, pointer)
                    return  # Another spelling would not do either.
            message = f"{subject(pointer)}: this spelling of the number is not written: {_why(written, rows)}"
            yield _written("numbers", message, node.start, node.end, hint, pointer)
            return
        if node.kind == "string" and node.start < at < node.end:
            rows = [r for r in report if r.enforcement == "narrower" and r.keyword == "format" and _names(r, pointer)]
            why = rows[0].reason if rows else "see the report of the index"
            message = f"{subject(pointer)}: less is accepted here than the schema says: {why}"
            yield _written("format" if rows else "", message, node.start, node.end, "", pointer)
            return


def _why(written: str, rows: list[Any]) -> str:
    """Why a spelling of a number is not written, by the rows of numbers in the report."""
    whole, _, fraction = written.lstrip("-").partition(".")
    has_exponent = "e" in written.lower()
    if has_exponent and any(r.keyword != "numbers" for r in rows):
        return "bounded numbers are written without exponent"
    if not has_exponent and len(whole) <= MOST_WHOLE and len(fraction) <= MOST_FRACTION:
        if any(r.keyword == "multipleOf" for r in rows) and fraction:
            return POINT
    return "numbers have at most 80 digits before the point and 32 after it, and few in an exponent"


def _long_decimal(pointer: str) -> str:
    return f"{subject(pointer)}: a number of so many digits is not written: {POINT}"


def _names(row: Any, pointer: str) -> bool:
    """Whether a row of the report can be about the value at ``pointer``: its place in the schema has the same key."""
    keys = [part for part in pointer.split("/") if part and not part.isdigit()]
    return not keys or keys[-1] in row.pointer.split("/")


KEPT, MOST_WHOLE, MOST_FRACTION = 15, 80, 32
"""Digits that a number with a point has at most beside ``multipleOf``, and before and behind the point of any."""
POINT = (
    f"beside multipleOf a number has a point only with at most {KEPT} digits, zeros at the end aside, since readers "
    "take longer ones for other numbers"
)
NUMBERS = {"numbers", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
