"""Whether one schema accepts no more than another, concluded from their keywords.

Two versions of a schema mostly differ in a bound, a pattern or a list. Then it is known which of them accepts less,
however many states the whole schemas have: everything around the change is the same, and a property whose schema
accepts less makes an object that does. That holds where a part of a schema is *monotone*: accepting more there never
makes the whole accept less. ``not`` and the conditions of ``if`` and ``contains`` are not, and have to be the same.

What scalars accept is asked of the engine, over texts: a bound, a type or a pattern with what stands beside it is
compiled on its own. The rest is compared here. The answer is yes, with certainty, or that it is not known.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from interlock.cli.comparing.objects_in_documents import objects_in
from interlock.schema_hints import ANNOTATIONS, KEYWORDS
from interlock.schema_hints.types_of_keywords import TYPES_OF_KEYWORDS
from interlock.util.json_pointer import unescaped

SCALARS = frozenset(
    "type enum const format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
    .split()
)  # fmt: skip
"""Keywords about values without parts, whose meaning the engine is asked for."""
ANYTHING: dict[str, Any] = {}
NOTHING: dict[str, Any] = {"not": {}}
LEAST = ("minLength", "minItems", "minProperties")
MOST = ("maxLength", "maxItems", "maxProperties")
OBJECTS = ("properties", "patternProperties", "additionalProperties")
ARRAYS = ("prefixItems", "items", "additionalItems")
TOGETHER = ("if", "then", "else", "contains", "minContains", "maxContains")
"""Keywords that say something only with others of these."""
SILENT = ANNOTATIONS | {"$defs", "definitions", "$anchor"}
"""What asserts nothing where it stands. References to anchors are not followed."""
IN_PLACE = ("allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas", "dependencies", "not")
TYPES = frozenset({"null", "boolean", "string", "number", "array", "object"})
OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")
"""Where nothing beside ``$ref`` counts."""
MOST_PAIRS = 20_000
"""Pairs of parts that are compared before the answer is that it is not known."""


class NotKnown(Exception):
    """A part that the comparison cannot follow."""


def parse(text: str | bytes) -> Any:
    """A schema with its numbers as they are written."""
    return json.loads(text, parse_float=Decimal)


@dataclass
class Inclusion:
    """Compares parts of two schemas. ``accepts_less(first, second)`` says of two scalar schemas, as texts, whether the
    first accepts nothing else than the second; it may raise ``NotKnown``.
    """

    first: Any
    second: Any
    accepts_less: Callable[[str, str], bool]
    any_order: bool = False
    """Whether the keys of objects come in any order: otherwise the order in which they are declared counts."""
    known: dict[tuple[int, int, bool], tuple[int, bool]] = field(default_factory=dict)
    """Pairs that hold or are being compared: how deep inside a value that began, and whether it has ended. References
    lead to a pair again while it is being compared. It may be assumed for a part of the value, which is smaller, and
    not for the value itself.
    """
    pieces: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    """Parts with one of their types, kept since parts are told apart by their ``id``."""
    trail: list[tuple[int, int, bool]] = field(default_factory=list)
    depth: int = 0
    pairs: int = 0

    def holds(self) -> bool:
        """Whether it is certain that the first accepts no more than the second."""
        roots = [self.first, self.second]
        try:
            if any(map(_has_ids_inside, roots)) or _draft(self.first) != _draft(self.second):
                return False
            return self.included(self.first, self.second, False)
        except (NotKnown, RecursionError, TypeError, AttributeError):  # A keyword of another draft may hold anything.
            return False

    def included(self, a: Any, b: Any, is_shared: bool) -> bool:
        """Whether part ``a`` of the first accepts no more than part ``b`` of the second. ``is_shared``: other parts are
        about the same object, and the order of its keys is made from all of them.
        """
        self.pairs += 1
        if self.pairs > MOST_PAIRS:
            raise NotKnown
        a, b = (ANYTHING if part is True else NOTHING if part is False else part for part in (a, b))
        if a is NOTHING or not b:
            return True
        if not isinstance(a, dict) or not isinstance(b, dict):
            raise NotKnown
        pair = (id(a), id(b), is_shared)
        if pair in self.known:
            began, ended = self.known[pair]
            if not ended or began <= self.depth:
                return ended or began < self.depth
        a_says, b_says = self._asserting(a), self._asserting(b)
        if is_shared and [k for k in a_says if k not in SCALARS] != [k for k in b_says if k not in SCALARS]:
            if not (_is_without_keys(a) and _is_without_keys(b)):
                return False
        mark, depth = len(self.trail), self.depth
        self.trail.append(pair)
        self.known[pair] = (depth, False)
        if self._keywords(a, b, a_says, b_says, is_shared) or self._alternatives(a, b, a_says, b_says, is_shared):
            self.known[pair] = (depth, True)
            return True
        # What was found to hold meanwhile may have assumed this pair.
        for doubtful in self.trail[mark:]:
            self.known.pop(doubtful, None)
        del self.trail[mark:]
        return False

    def inside(self, a: Any, b: Any, is_shared: bool) -> bool:
        """``included`` for a part of the value."""
        self.depth += 1
        try:
            return self.included(a, b, is_shared)
        finally:
            self.depth -= 1

    def _asserting(self, part: dict[str, Any]) -> list[str]:
        if "$ref" in part and any(draft in str(_draft(self.first)) for draft in OLD_DRAFTS):
            return ["$ref"]
        return [key for key in part if key in KEYWORDS and key not in SILENT]

    def _keywords(self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], up: bool) -> bool:
        """Whether each keyword of ``b`` follows from the same keyword of ``a``."""
        if {"unevaluatedProperties", "unevaluatedItems"} & {*a_says, *b_says}:
            if self._same({k: a[k] for k in a_says}, {k: b[k] for k in b_says}):
                return True
            arrays = {"unevaluatedItems", *ARRAYS, "contains"} & {*a_says, *b_says}
            if arrays or not self._unevaluated_alike(a, b, a_says, b_says):
                return False
        shared = up or sum(key in a_says for key in IN_PLACE) + any(key in a_says for key in OBJECTS) > 1
        seen = set(a_says) | set(b_says)
        if seen & SCALARS and not self._scalars(a, b, a_says, b_says):
            return False
        if seen & {*OBJECTS, "required"} and not self._objects(a, b, a_says, b_says, shared):
            return False
        if seen & set(ARRAYS) and not self._arrays(a, b, shared or "contains" in seen):
            return False
        if seen & {"if", "then", "else"} and not self._condition(a, b, shared):
            return False
        if "contains" in b_says and not self._contains(a, b, a_says):
            return False
        rest = [key for key in b_says if key not in SCALARS and key not in (*OBJECTS, *ARRAYS, "required")]
        return all(key in a_says and self._keyword(key, a[key], b[key], shared) for key in rest if key not in TOGETHER)

    def _keyword(self, key: str, a: Any, b: Any, shared: bool) -> bool:
        if key in LEAST or key in MOST:
            return bool(a >= b if key in LEAST else a <= b)
        if key == "uniqueItems":
            return a is True or b is False
        if key == "$ref":
            return self.included(_target(self.first, a), _target(self.second, b), shared)
        if key in ("$dynamicRef", "$recursiveRef"):  # Where they lead is not followed.
            raise NotKnown
        if key == "propertyNames":
            return self.inside(a, b, False)
        if key == "allOf":
            return _pairwise(a, b, lambda x, y: self.included(x, y, shared or len(a) > 1))
        if key == "anyOf":
            return all(any(self.included(x, y, shared) for y in _from(b, at)) for at, x in enumerate(a))
        if key == "oneOf":
            each = all(any(self.included(x, y, shared) for y in _from(b, at)) for at, x in enumerate(a))
            return each and self._apart(b) or self._same(a, b)
        return self._same(a, b)

    def _alternatives(
        self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], shared: bool
    ) -> bool:
        """Whether one alternative of ``b`` has the whole of ``a``, or each alternative of ``a`` is in ``b``."""
        if a_says in (["anyOf"], ["oneOf"]) and all(self.included(x, b, shared) for x in a[a_says[0]]):
            return True
        if a_says == ["$ref"] and b_says != ["$ref"] and self.included(_target(self.first, a["$ref"]), b, shared):
            return True
        if b_says == ["$ref"] and a_says != ["$ref"]:
            return self.included(a, _target(self.second, b["$ref"]), shared)
        if b_says == ["anyOf"] and any(self.included(a, x, shared) for x in b["anyOf"]):
            return True
        kinds = a.get("type")
        if isinstance(kinds, list) and len(kinds) > 1 and len(b_says) == 1 and b_says[0] in ("anyOf", "oneOf", "$ref"):
            return all(self.included(self._of_type(a, kind), b, shared) for kind in kinds)
        return b_says == ["oneOf"] and self._apart(b["oneOf"]) and any(self.included(a, x, shared) for x in b["oneOf"])

    def _of_type(self, part: dict[str, Any], kind: str) -> dict[str, Any]:
        """A part with one of its types, without the keywords that say nothing of values of that type."""
        if (id(part), kind) not in self.pieces:
            kept = {key: value for key, value in part.items() if kind in TYPES_OF_KEYWORDS.get(key, (kind,))}
            self.pieces[id(part), kind] = kept | {"type": kind}
        return self.pieces[id(part), kind]

    def _scalars(self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str]) -> bool:
        one = {key: a[key] for key in a_says if key in SCALARS}
        other = {key: b[key] for key in b_says if key in SCALARS}
        if _text(one) == _text(other) or not other:
            return True
        lengths = ("minLength", "maxLength")
        if _text(_without(one, lengths)) == _text(_without(other, lengths)):
            longest = "maxLength" not in other or "maxLength" in one and one["maxLength"] <= other["maxLength"]
            if longest and one.get("minLength", 0) >= other.get("minLength", 0):
                return True
        constants = {"enum", "const"}
        if constants & one.keys():
            if not constants & other.keys() and any(isinstance(value, dict | list) for value in _constants(one)):
                return False
        else:
            # Arrays and objects are compared by the keywords that are about them.
            containers = {"array", "object"} & _types(one)
            if containers and (constants & other.keys() or not containers <= _types(other)):
                return False
            simple = sorted(_types(one) - containers)
            if not simple:
                return True
            one = one | {"type": simple}
        if not constants & other.keys():
            if not (simple := sorted(_types(other) - {"array", "object"})):
                return False
            other = other | {"type": simple}
        draft = {"$schema": _draft(self.first)} if _draft(self.first) else {}
        return self.accepts_less(_text(draft | one), _text(draft | other))

    def _objects(
        self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], shared: bool
    ) -> bool:
        ours, theirs = a.get("properties", {}), b.get("properties", {})
        needed, asked = a.get("required", []), b.get("required", [])
        if not set(asked) <= set(needed):
            return False
        if not self.any_order:
            loose = {name for name in {*needed, *asked} if name not in ours or name not in theirs}
            # Where keys are required and not declared, the list of them says their place.
            if loose and list(needed) != list(asked) or not _one_order(list(ours), list(theirs)):
                return False
        patterns, others = a.get("patternProperties", {}), b.get("patternProperties", {})
        if set(patterns) != set(others) or not all(self.inside(patterns[p], others[p], True) for p in patterns):
            return False
        rest, beyond = a.get("additionalProperties", True), b.get("additionalProperties", True)
        if set(ours) != set(theirs):
            # A key that the second alone declares must not come in the first: undeclared ones are not held to a place.
            if patterns or set(theirs) - set(ours) and not self._closed(a, b, a_says, b_says):
                return False
            # One that the first alone declares is undeclared in the second, where it comes after the declared ones, and
            # after those that are required and not declared. Where other parts declare keys of the same object, too,
            # nothing is known of its place. Of a key that both declare it is: each part has it at the same place.
            more = set(ours) - set(theirs)
            last = set(list(ours)[len(ours) - len(more) :])
            if more and not self.any_order and (shared or last != more or set(asked) - set(theirs)):
                return False
        parts = [(ours[name], theirs.get(name, beyond)) for name in ours]
        shared = shared or bool(patterns)  # A pattern may be about a declared key, too.
        return all(self.inside(x, y, shared) for x, y in [*parts, (rest, beyond)])

    def _closed(self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str]) -> bool:
        """Whether nothing is in an object of ``a`` but what it declares. Where ``unevaluatedProperties`` says it, the
        neighbours of that take other keys as well: they are the same in both, and name no key that ``b`` adds.
        """
        if a.get("additionalProperties") is False:
            return True
        return "additionalProperties" not in a and self._unevaluated_alike(a, b, a_says, b_says)

    def _unevaluated_alike(self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str]) -> bool:
        """Whether both close an object by ``unevaluatedProperties``, with the same neighbours of ``properties``, which
        leave open no keys but those that ``properties`` of the first names, or that the second does not add.
        """
        if a.get("unevaluatedProperties") is not False or b.get("unevaluatedProperties") is not False:
            return False
        if {"patternProperties", "additionalProperties"} & {*a_says, *b_says}:
            return False
        ours, theirs = ({key: part[key] for key in says if key in IN_PLACE or key in ("then", "else")}
                        for part, says in ((a, a_says), (b, b_says)))  # fmt: skip
        if not self._same(ours, theirs) or not set(a.get("properties", {})) <= set(b.get("properties", {})):
            return False
        added = set(b.get("properties", {})) - set(a.get("properties", {}))
        return not any(
            part.keys() & {*added, "$ref", "patternProperties", "additionalProperties", "unevaluatedProperties"}
            for part in objects_in(ours)
        )

    def _arrays(self, a: dict[str, Any], b: dict[str, Any], shared: bool) -> bool:
        (heads, rest), (others, beyond) = _elements(a), _elements(b)
        pairs = [
            (heads[at] if at < len(heads) else rest, others[at] if at < len(others) else beyond)
            for at in range(max(len(heads), len(others)))
        ]
        return all(self.inside(x, y, shared) for x, y in [*pairs, (rest, beyond)])

    def _condition(self, a: dict[str, Any], b: dict[str, Any], shared: bool) -> bool:
        if "if" not in b:
            return True
        if "if" not in a or not self._same(a["if"], b["if"]):
            return False
        return all(self.included(a.get(key, True), b.get(key, True), True) for key in ("then", "else"))

    def _contains(self, a: dict[str, Any], b: dict[str, Any], a_says: list[str]) -> bool:
        if "contains" not in a_says:
            return False
        if "maxContains" in b and not ("maxContains" in a and a["maxContains"] <= b["maxContains"]):
            return False
        if a.get("minContains", 1) < b.get("minContains", 1):
            return False
        return self._same(a["contains"], b["contains"])

    def _apart(self, members: list[Any]) -> bool:
        """Whether no value satisfies two of these: by their types, or by a key that has another constant in each."""
        if "draft-04" in str(_draft(self.second)):  # It has no const.
            return False
        resolved = [self._resolved(member) for member in members]
        return all(_differ(x, y) for at, x in enumerate(resolved) for y in resolved[:at])

    def _resolved(self, member: Any) -> dict[str, Any]:
        for _ in range(8):
            if not isinstance(member, dict) or "$ref" not in member:
                break
            member = _target(self.second, member["$ref"])
        return member if isinstance(member, dict) else {}

    def _same(self, a: Any, b: Any) -> bool:
        """Whether two parts say the same, and what they refer to does."""
        seen: set[str] = set()
        ways = [(a, b)]
        while ways:
            one, other = ways.pop()
            if _text(one) != _text(other):
                return False
            for reference in _references(one):
                if reference not in seen:
                    seen.add(reference)
                    ways.append((_target(self.first, reference), _target(self.second, reference)))
        return True


def _is_without_keys(part: Any) -> bool:
    """Whether a part says nothing of the keys of objects, so that it is without meaning for their order."""
    if not isinstance(part, dict):
        return isinstance(part, bool)
    asserting = {key for key in part if key in KEYWORDS and key not in SILENT}
    combining = asserting & {"anyOf", "oneOf", "allOf"}
    return asserting - combining <= SCALARS and all(_is_without_keys(x) for key in combining for x in part[key])


def _pairwise(a: list[Any], b: list[Any], includes: Callable[[Any, Any], bool]) -> bool:
    """Whether the lists are of one length and each element is included in the one at its place."""
    return len(a) == len(b) and all(includes(x, y) for x, y in zip(a, b))


def _from(values: list[Any], at: int) -> list[Any]:
    """The values, beginning with the one at a place: alternatives mostly stay where they were."""
    return [*values[at : at + 1], *values[:at], *values[at + 1 :]]


def _without(part: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: part[key] for key in sorted(part) if key not in keys}


def _one_order(one: list[str], other: list[str]) -> bool:
    """Whether the names that both have come in the same order."""
    return [name for name in one if name in other] == [name for name in other if name in one]


def _elements(part: dict[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of the first elements, and the schema of all others."""
    items = part.get("items", True)
    if isinstance(items, list):
        return items, part.get("additionalItems", True)
    return part.get("prefixItems", []), items


def _types(part: dict[str, Any]) -> set[str]:
    named = part.get("type", list(TYPES))
    return set(named) if isinstance(named, list) else {named}


def _constants(part: dict[str, Any]) -> list[Any]:
    return [*part.get("enum", []), *([part["const"]] if "const" in part else [])]


def _differ(a: dict[str, Any], b: dict[str, Any]) -> bool:
    ours, theirs = ({"number" if t == "integer" else t for t in _types(part)} for part in (a, b))
    if "type" in a and "type" in b and not ours & theirs:
        return True
    if ours != {"object"} or theirs != {"object"}:
        return False
    for name in {*a.get("required", ())} & {*b.get("required", ())}:
        kinds = [part.get("properties", {}).get(name) for part in (a, b)]
        texts = [{_text(value) for value in _constants(kind)} for kind in kinds if isinstance(kind, dict)]
        strings = all(isinstance(v, str) for kind in kinds if isinstance(kind, dict) for v in _constants(kind))
        if len(texts) == 2 and all(texts) and strings and not texts[0] & texts[1]:
            return True
    return False


def _draft(root: Any) -> Any:
    return root.get("$schema") if isinstance(root, dict) else None


def _target(root: Any, reference: Any) -> Any:
    """What a reference into the same document leads to. ``NotKnown`` for other references."""
    if not isinstance(reference, str) or reference[:2] not in ("#", "#/") or "%" in reference:
        raise NotKnown
    found = root
    for step in reference[2:].split("/") if reference != "#" else ():
        key = unescaped(step)
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise NotKnown
    return found


def _references(value: Any) -> list[str]:
    found = []
    for part in objects_in(value):
        if {"$dynamicRef", "$recursiveRef"} & part.keys():
            raise NotKnown
        if "$ref" in part:
            found.append(part["$ref"])
    return found


def _has_ids_inside(root: Any) -> bool:
    """Whether a part inside has an identifier of its own, from which its references would count."""
    key = "id" if "draft-04" in str(_draft(root)) else "$id"
    return any(isinstance(part.get(key), str) for part in objects_in(root) if part is not root)


def _text(value: Any) -> str:
    """JSON, with the numbers as they stand in the schema."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_text(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(_text, value)) + "]" if isinstance(value, list) else json.dumps(value)
