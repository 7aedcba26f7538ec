"""Whether one schema accepts no more than another, concluded from their keywords.

Two versions of a schema mostly differ in a bound, a pattern or a list. Then it is known which of them accepts less,
however many states the whole schemas have: everything around the change is the same, and a property whose schema
accepts less makes an object that does. That holds where a part of a schema is *monotone*: accepting more there never
makes the whole accept less. ``not`` and the conditions of ``if`` and ``contains`` are not, and have to be the same.

What scalars accept is asked of the engine, over texts: a bound, a type or a pattern with what stands beside it is
compiled on its own. The rest is compared here. The answer is yes, with certainty, or that it is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from interlock.cli.comparing.conditions import condition, implies, says_nothing
from interlock.cli.comparing.key_presence import few_names, is_without_keys, named_in_place, order_follows, present
from interlock.cli.comparing.objects_in_documents import objects_in
from interlock.cli.comparing.schema_parts import (
    ANYTHING,
    ARRAYS,
    IN_PLACE,
    LEAST,
    MOST,
    NOTHING,
    OBJECTS,
    OLD_DRAFTS,
    SCALARS,
    SILENT,
    TOGETHER,
    NotKnown,
    are_apart,
    constants_of,
    dependents,
    draft_of,
    elements_of,
    has_ids_inside,
    is_new,
    references_in,
    target_of,
    text_of_json,
    types_of,
)
from interlock.schema_hints import KEYWORDS
from interlock.schema_hints.types_of_keywords import TYPES_OF_KEYWORDS

DEPENDENT = ("dependentRequired", "dependentSchemas")

MOST_PAIRS = 20_000
"""Pairs of parts that are compared before the answer is that it is not known."""


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
    settled: frozenset[str] = frozenset()
    """Keys whose order is known, since a part around this one, about the same object, declares them in both."""
    is_plain: bool = True
    """Whether keywords are compared that say the same in different ways: not where what a schema mentions decides how
    it is spelled, where a keyword looks at what its neighbours say (``unevaluatedProperties``), and in old drafts."""
    known: dict[tuple[int, int, bool, frozenset[str]], tuple[int, bool]] = field(default_factory=dict)
    """Pairs that hold or are being compared: how deep inside a value that began, and whether it has ended. References
    lead to a pair again while it is being compared. It may be assumed for a part of the value, which is smaller, and
    not for the value itself.
    """
    pieces: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    """Parts with one of their types, kept since parts are told apart by their ``id``."""
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Other parts that are made here, for the same reason."""
    trail: list[tuple[int, int, bool, frozenset[str]]] = field(default_factory=list)
    depth: int = 0
    pairs: int = 0

    def holds(self) -> bool:
        """Whether it is certain that the first accepts no more than the second."""
        roots = [self.first, self.second]
        try:
            if any(map(has_ids_inside, roots)) or draft_of(self.first) != draft_of(self.second):
                return False
            self.is_plain = (
                self.is_plain
                and is_new(draft_of(self.first))
                and not any(
                    {"unevaluatedProperties", "unevaluatedItems"} & part.keys()
                    for root in roots
                    for part in objects_in(root)
                )
            )
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
        pair = (id(a), id(b), is_shared, self.settled)
        if pair in self.known:
            began, ended = self.known[pair]
            if not ended or began <= self.depth:
                return ended or began < self.depth
        a_says, b_says = self._asserting(a), self._asserting(b)
        if is_shared and [k for k in a_says if k not in SCALARS] != [k for k in b_says if k not in SCALARS]:
            is_settled = self.is_plain and self._are_settled(a, b, self.settled, with_own=True)
            if not is_settled and not (is_without_keys(a) and is_without_keys(b)):
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
        settled, self.settled = self.settled, frozenset()
        self.depth += 1
        try:
            return self.included(a, b, is_shared)
        finally:
            self.depth -= 1
            self.settled = settled

    def _are_settled(self, a: dict[str, Any], b: dict[str, Any], names: frozenset[str], with_own: bool) -> bool:
        """Whether the order of keys depends on nothing that the parts say of the same object. ``names`` are the keys
        that are declared before; ``with_own``: the parts' own ``properties`` count as well.
        """
        if self.any_order:
            return True
        try:
            found = named_in_place(a) | named_in_place(b)
        except NotKnown:
            return False
        own = {*a.get("properties", ()), *b.get("properties", ())} if with_own else set()
        return found | own <= names

    def _asserting(self, part: dict[str, Any]) -> list[str]:
        if "$ref" in part and any(draft in str(draft_of(self.first)) for draft in OLD_DRAFTS):
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
        around, declared = self.settled, set[str]()
        if "properties" in a_says and "properties" in b_says:
            declared = {*a["properties"]} & {*b["properties"]}
        try:
            self.settled = around | declared
            return self._each_keyword(a, b, a_says, b_says, shared)
        finally:
            self.settled = around

    def _each_keyword(
        self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], shared: bool
    ) -> bool:
        seen = set(a_says) | set(b_says)
        is_free = self.is_plain and self._are_settled(a, b, self.settled, with_own=False)
        if seen & SCALARS and not self._scalars(a, b, a_says, b_says):
            return False
        if seen & {*OBJECTS, "required"} and not self._objects(a, b, a_says, b_says, shared):
            return False
        if seen & set(ARRAYS) and not self._arrays(a, b, shared or "contains" in seen):
            return False
        if seen & {"if", "then", "else"} and not self._condition(a, b, is_free):
            return False
        if seen & set(DEPENDENT) and not self._dependents(a, b, a_says, b_says, is_free):
            return False
        if "contains" in b_says and not self._contains(a, b, a_says):
            return False
        apart = {*SCALARS, *OBJECTS, *ARRAYS, "required", *TOGETHER, *DEPENDENT}
        rest = [key for key in b_says if key not in apart]
        return all(
            key in a_says and self._keyword(key, a[key], b[key], shared)
            or is_free and self._follows(key, a, b, a_says, shared)
            for key in rest
        )  # fmt: skip

    def _follows(self, key: str, a: dict[str, Any], b: dict[str, Any], a_says: list[str], shared: bool) -> bool:
        """Whether a keyword of ``b`` follows from other keywords of ``a``, or from the same one in another way."""
        value = b[key]
        if says_nothing({key: value}):
            return True
        if key == "not":
            return "not" in a_says and implies(value, a["not"], lambda x, y: self._same(y, x))
        if key == "propertyNames" and a.get("additionalProperties") is False:
            names = [{"const": name} for name in a.get("properties", {})]
            names += [{"type": "string", "pattern": pattern} for pattern in a.get("patternProperties", {})]
            self.kept += names
            return all(self.inside(name, value, False) for name in names)
        if key == "allOf":
            self.kept.append(rest := {k: v for k, v in a.items() if k != "allOf"})
            ways = [*a.get("allOf", ()), rest]
            return all(any(self.included(x, y, True) for x in ways) for y in value)
        return False

    def _keyword(self, key: str, a: Any, b: Any, shared: bool) -> bool:
        if key in LEAST or key in MOST:
            return bool(a >= b if key in LEAST else a <= b)
        if key == "uniqueItems":
            return a is True or b is False
        if key == "$ref":
            return self.included(target_of(self.first, a), target_of(self.second, b), shared)
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
        if a_says == ["$ref"] and b_says != ["$ref"] and self.included(target_of(self.first, a["$ref"]), b, shared):
            return True
        if b_says == ["$ref"] and a_says != ["$ref"]:
            return self.included(a, target_of(self.second, b["$ref"]), shared)
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
        if text_of_json(one) == text_of_json(other) or not other:
            return True
        lengths = ("minLength", "maxLength")
        if text_of_json(_without(one, lengths)) == text_of_json(_without(other, lengths)):
            longest = "maxLength" not in other or "maxLength" in one and one["maxLength"] <= other["maxLength"]
            if longest and one.get("minLength", 0) >= other.get("minLength", 0):
                return True
        constants = {"enum", "const"}
        if constants & one.keys():
            if not constants & other.keys() and any(isinstance(value, dict | list) for value in constants_of(one)):
                return False
        else:
            # Arrays and objects are compared by the keywords that are about them.
            containers = {"array", "object"} & types_of(one)
            if containers and (constants & other.keys() or not containers <= types_of(other)):
                return False
            simple = sorted(types_of(one) - containers)
            if not simple:
                return True
            one = one | {"type": simple}
        if not constants & other.keys():
            if not (simple := sorted(types_of(other) - {"array", "object"})):
                return False
            other = other | {"type": simple}
        draft = {"$schema": draft_of(self.first)} if draft_of(self.first) else {}
        return self.accepts_less(text_of_json(draft | one), text_of_json(draft | other))

    def _objects(
        self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], shared: bool
    ) -> bool:
        ours, theirs = a.get("properties", {}), b.get("properties", {})
        needed, asked = a.get("required", []), b.get("required", [])
        if not set(asked) <= (present(a, ()) if self.is_plain else set(needed)):
            return False
        is_ordered = self.any_order or not shared and order_follows(a, b, {*a_says, *b_says})
        if not is_ordered:
            loose = {*needed, *asked} - self.settled
            # Where keys are required and not declared, the list of them says their place.
            if loose and list(needed) != list(asked) or not _one_order(list(ours), list(theirs)):
                return False
        patterns, others = a.get("patternProperties", {}), b.get("patternProperties", {})
        rest, beyond = a.get("additionalProperties", True), b.get("additionalProperties", True)
        if self.any_order and self.is_plain and not patterns and (names := few_names(a)) is not None:
            ours, rest = {name: rest for name in names if name not in ours} | ours, False
        is_closed = rest is False and not patterns
        if set(patterns) != set(others):
            if not self.is_plain or not self._patterns(ours, patterns, others, rest, beyond):
                return False
        elif not all(self.inside(patterns[p], others[p], True) for p in patterns):
            return False
        if set(ours) != set(theirs):
            # A key that the second alone declares must not come in the first: undeclared ones are not held to a place.
            # In any order none is, and it may come where the second takes all that the first takes there.
            closed = is_closed or self._closed(a, b, a_says, b_says)
            added, is_free = set(theirs) - set(ours), self.any_order and self.is_plain
            if patterns or others or added and not closed and not is_free:
                return False
            if not closed and not all(self.inside(rest, theirs[name], True) for name in added):
                return False
            # One that the first alone declares is undeclared in the second, where it comes after the declared ones, and
            # after those that are required and not declared. Where other parts declare keys of the same object, too,
            # nothing is known of its place. Of a key that both declare it is: each part has it at the same place.
            more = set(ours) - set(theirs)
            last = set(list(ours)[len(ours) - len(more) :])
            if more and not is_ordered and (shared or last != more or set(asked) - set(theirs)):
                return False
        parts = [(ours[name], theirs.get(name, beyond)) for name in ours]
        shared = shared or bool(patterns or others)  # A pattern may be about a declared key, too.
        return all(self.inside(x, y, shared) for x, y in [*parts, (rest, beyond)])

    def _patterns(
        self, ours: dict[str, Any], patterns: dict[str, Any], others: dict[str, Any], rest: Any, beyond: Any
    ) -> bool:
        """Whether the members that the patterns of ``b`` are about, and those of ``a`` which ``b`` has no pattern for,
        are taken by ``b``.
        """
        for pattern, schema in others.items():
            around = [q for q in patterns if self._matches_less(pattern, q)]
            if says_nothing(schema) or any(self.inside(patterns[q], schema, True) for q in around):
                continue
            if not all(self.inside(x, schema, True) for x in (*ours.values(), *patterns.values(), rest)):
                return False
        open_ones = [q for q in patterns if not any(self._matches_less(q, pattern) for pattern in others)]
        return all(self.inside(patterns[q], beyond, True) for q in open_ones)

    def _matches_less(self, pattern: str, other: str) -> bool:
        """Whether each key that matches the first pattern matches the second."""
        texts = (text_of_json({"type": "string", "pattern": one}) for one in (pattern, other))
        return pattern == other or self.accepts_less(*texts)

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
        (heads, rest), (others, beyond) = elements_of(a), elements_of(b)
        pairs = [
            (heads[at] if at < len(heads) else rest, others[at] if at < len(others) else beyond)
            for at in range(max(len(heads), len(others)))
        ]
        return all(self.inside(x, y, shared) for x, y in [*pairs, (rest, beyond)])

    def _condition(self, a: dict[str, Any], b: dict[str, Any], is_free: bool) -> bool:
        if "if" not in b or is_free and says_nothing({key: b[key] for key in ("if", "then", "else") if key in b}):
            return True
        if "if" not in a:
            return False
        if self._same(a["if"], b["if"]):
            return all(self.included(a.get(key, True), b.get(key, True), True) for key in ("then", "else"))
        if not is_free:
            return False
        (test, then, other), (asked, so, otherwise) = condition(a), condition(b)
        # What satisfies the second condition has what the first says then; where not, one of both.
        within = implies(asked, test, lambda x, y: self._same(y, x))
        around = implies(test, asked, self._same)
        if not says_nothing(so):
            if not self.included(then, so, True) or not within and not self.included(other, so, True):
                return False
        if says_nothing(otherwise):
            return True
        return self.included(other, otherwise, True) and (around or self.included(then, otherwise, True))

    def _dependents(
        self, a: dict[str, Any], b: dict[str, Any], a_says: list[str], b_says: list[str], is_free: bool
    ) -> bool:
        """What an object needs that has a key: each need of ``b`` follows from ``a``."""
        if all(key in a_says and self._same(a[key], b[key]) for key in DEPENDENT if key in b_says):
            return True
        if not is_free:
            return False
        ours = dependents(a)
        for key, needs in dependents(b).items():
            keys = present(a, [key])
            given = [part for one in keys for part in ours.get(one, ()) if not isinstance(part, list)]
            for need in needs:
                if isinstance(need, list):
                    if not set(need) <= keys:
                        return False
                elif not self._need_follows(need, keys, given):
                    return False
        return True

    def _need_follows(self, need: Any, keys: set[str], given: list[Any]) -> bool:
        if says_nothing(need):
            return True
        if isinstance(need, dict) and "required" in need and set(need["required"]) <= keys:
            if says_nothing({key: value for key, value in need.items() if key != "required"}):
                return True
        return any(self.included(part, need, True) for part in given)

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
        if "draft-04" in str(draft_of(self.second)):  # It has no const.
            return False
        resolved = [self._resolved(member) for member in members]
        return all(are_apart(x, y) for at, x in enumerate(resolved) for y in resolved[:at])

    def _resolved(self, member: Any) -> dict[str, Any]:
        for _ in range(8):
            if not isinstance(member, dict) or "$ref" not in member:
                break
            member = target_of(self.second, member["$ref"])
        return member if isinstance(member, dict) else {}

    def _same(self, a: Any, b: Any) -> bool:
        """Whether two parts say the same, and what they refer to does."""
        seen: set[str] = set()
        ways = [(a, b)]
        while ways:
            one, other = ways.pop()
            if text_of_json(one) != text_of_json(other):
                return False
            for reference in references_in(one):
                if reference not in seen:
                    seen.add(reference)
                    ways.append((target_of(self.first, reference), target_of(self.second, reference)))
        return True


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
