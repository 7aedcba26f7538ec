"""A quick search for a text that only one of two sources accepts: members of each side, and changed members.

The exact comparison needs the states of both. Where these are too many, a text that one side's examples lead to often
shows the difference at once: an example of one side that the other refuses, or one with a value changed, a key added
or a key left out. Every text is walked through both sides, so that one that is found is certain; that none is found
proves nothing.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import interlock
from interlock._recipe import Recipe
from interlock.cli.comparing.key_names import key_sets, matching, named
from interlock.cli.comparing.objects_in_documents import objects_in
from interlock.samples.grammar_samples import keywords_of
from interlock.samples.plausible import example
from interlock.samples.random_walks import random_walk

EXAMPLES = 24
"""Plausible examples of each side."""
WALKS = 24
"""Random walks through each side."""
MOST_CHANGED = 4000
"""Changed members that are tried."""
MOST_ELEMENTS = 2000
"""Of an array that is made longer; few look at more."""
SECONDS = 2.0
"""After which the search ends."""
VALUES: tuple[Any, ...] = ("", "x", "é", 0, 1, -1, 7, 0.5, 1e3, True, False, None, [], [0], {}, {"x": 0})
"""What is put in the place of a value, or at a new key."""
FILLERS: tuple[Any, ...] = ("", 0, True)
"""What is put at keys that no member has."""
MOST_SETS = 24
"""Sets of keys that are put into members together."""
SET_BASES = 6
"""Members that they are put into."""
_UNNAMED = ("other", "more", *(f"other{n}" for n in range(10_000)))


@dataclass
class Found:
    """A text that only the first accepts, one that only the second accepts, and how many texts were tried."""

    texts: list[bytes | None] = field(default_factory=lambda: [None, None])
    tried: int = 0
    plausible: int = 0
    random: int = 0
    changed: int = 0
    included: list[bool] = field(default_factory=lambda: [False, False])
    """Sides of which it is known that they accept nothing else than the other."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be found."""
        return all(text is not None or none for text, none in zip(self.texts, self.included))

    def machine(self) -> dict[str, int]:
        """The numbers, for machines."""
        return {"plausible": self.plausible, "random": self.random, "changed": self.changed}


class _Search:
    """Walks texts through both sides, and keeps those that tell the two apart."""

    def __init__(self, indexes: tuple[interlock.Index, interlock.Index], included: list[bool]) -> None:
        self.guides = tuple(index.guide() for index in indexes)
        self.found = Found(included=included)
        self.seen: set[bytes] = set()
        self.ends = time.monotonic() + SECONDS

    @property
    def is_over(self) -> bool:
        """Whether all is found, or the time is up."""
        return self.found.is_complete or time.monotonic() > self.ends

    def accepts(self, side: int, data: bytes) -> bool:
        """Whether one side, 0 or 1, accepts a text."""
        guide = self.guides[side]
        guide.reset()
        try:
            return guide.advance_many(list(data)) == len(data) and guide.is_accepting
        except interlock.InterlockError:
            return False

    def offer(self, data: bytes) -> bool:
        """Walk a text through both sides. False if it is not new."""
        if data in self.seen:
            return False
        self.seen.add(data)
        self.found.tried += 1
        first, second = self.accepts(0, data), self.accepts(1, data)
        if first != second:
            side = 0 if first else 1
            old = self.found.texts[side]
            if old is None or _plainness(data) < _plainness(old):
                self.found.texts[side] = data
        return True

    def respell(self, names: list[str]) -> None:
        """Put plain documents in the place of those that random walks wrote with escapes, where plain ones do."""
        for text in self.found.texts:
            try:
                value = json.loads(text or b"")
            except (ValueError, RecursionError):
                continue
            for written in _written(value, names):
                self.offer(written)


def _plainness(data: bytes) -> tuple[int, int]:
    """The less, the plainer: escapes are harder to read than a few more characters."""
    return data.count(b"\\"), len(data)


def search(
    indexes: tuple[interlock.Index, interlock.Index],
    documents: tuple[Any, Any],
    included: list[bool] | None = None,
    hints: list[Any] | None = None,
    texts: Iterable[bytes] = (),
) -> Found:
    """Search for about two seconds at most. ``documents`` are the parsed schemas; ``None`` for other sources. A side
    that is ``included`` has no text of its own. ``hints`` are values that a part of one schema alone accepts, and
    ``texts`` are looked at before all others.
    """
    run, members = _Search(indexes, included or [False, False]), []
    if run.found.is_complete:
        return run.found
    for text in texts:
        run.found.plausible += run.offer(text)
        if run.is_over:
            break
    if run.found.is_complete:
        return run.found
    recipes = [Recipe.of(index) for index in indexes]
    for side, index in enumerate(indexes):
        own = _own_keywords(recipes[side], recipes[1 - side])
        for data, is_plausible in _members(index, recipes[side], own, run.ends - SECONDS * (0.7 - 0.3 * side)):
            new = run.offer(data)
            run.found.plausible += new and is_plausible
            run.found.random += new and not is_plausible
            members.append(data)
    names = list(dict.fromkeys(name for document in documents for name in named(document)))
    if not run.found.is_complete and any(document is not None for document in documents):
        names += [name for name in (hints or []) if isinstance(name, str)]
        names = list(dict.fromkeys([*names, *matching(documents, indexes[0].vocabulary)]))
        for text in _changed(members, documents, hints or [], names):
            if run.is_over or run.found.changed >= MOST_CHANGED:
                break
            run.found.changed += run.offer(text)
    run.respell(names)
    return run.found


def _own_keywords(recipe: Recipe, other: Recipe) -> list[str]:
    """The keywords of a grammar that the other grammar does not have; empty for other sources."""
    if recipe.method != "from_grammar":
        return []
    theirs = keywords_of(other.source) if other.method == "from_grammar" else []
    return [word for word in keywords_of(recipe.source) if word not in theirs]


def _members(index: interlock.Index, recipe: Recipe, keywords: list[str], ends: float) -> Iterator[tuple[bytes, bool]]:
    """Examples of a side, plausible ones first. Of those of a grammar, every other one has its own keywords."""
    for number in range(EXAMPLES):
        if time.monotonic() > ends:
            return
        drawn = example(recipe, random.Random(f"diff/{number}"), keywords if number % 2 else ())
        if drawn is not None:
            yield drawn, True
    for number in range(WALKS):
        if time.monotonic() > ends:
            return
        guide = index.guide()
        if random_walk(guide, random.Random(f"diff/{number}"), 8, 400):
            yield index.vocabulary.decode(guide.tokens), False


def _changed(members: list[bytes], documents: tuple[Any, Any], hints: list[Any], names: list[str]) -> Iterator[bytes]:
    """Members with one value replaced, one key added or one key left out, as JSON texts; those of few values first.
    Before them, members with a hint in the place of a value, and objects with keys that belong together.
    """
    values = [*VALUES, *_constants(documents)]
    parsed = []
    for member in dict.fromkeys(members):
        try:
            parsed.append(json.loads(member))
        except (ValueError, RecursionError):
            continue
    bases: list[Any] = [{}, *sorted(parsed, key=lambda value: len(json.dumps(value)))]
    sizes, seen = _sizes(documents), _seen_values(parsed)
    sets = [group for document in documents for group in key_sets(document)][:MOST_SETS]
    for group in sets:
        for value in FILLERS:
            together = {name: seen.get(name, [value])[0] for name in group}
            for base in bases[:SET_BASES]:
                for place in _places(base):
                    if isinstance(inner := _get(base, place), dict):
                        yield from _written(_with(base, place, together), names)
                        yield from _written(_with(base, place, inner | together), names)
    yield from _out_of_order(bases[:SET_BASES], documents, names, seen)
    for value in [*hints, *values]:
        yield from _written(value, names)
    for base in bases if hints else ():
        for place in _places(base):
            for value in hints:
                yield from _written(_with(base, place, value), names)
    for base in bases if sizes else ():
        for place in _places(base):
            if isinstance(inner := _get(base, place), list) and inner:
                for size in sizes:
                    yield from _written(_with(base, place, (inner * (size // len(inner) + 1))[:size]), names)
    for base in bases:
        for changed in _variants(base, names, values, seen):
            yield from _written(changed, names)


def _out_of_order(
    bases: list[Any], documents: tuple[Any, Any], names: list[str], seen: dict[str, list[Any]]
) -> Iterator[bytes]:
    """Objects with a key that one schema alone declares, behind a key that neither does: where keys come in the order
    in which they are declared, undeclared ones come last.
    """
    own = [name for name in names if len({name in named(document) for document in documents}) > 1][:MOST_SETS]
    for base in bases:
        for place in _places(base):
            if not isinstance(inner := _get(base, place), dict):
                continue
            unnamed = next(name for name in _UNNAMED if name not in names and name not in inner)
            for name in own:
                rest = {key: value for key, value in inner.items() if key != name}
                for value in [*seen.get(name, ()), *VALUES][:4]:
                    for written in (rest | {unnamed: 1, name: value}, rest | {name: value}):
                        yield json.dumps(_with(base, place, written), ensure_ascii=False).encode("utf-8", "replace")


def _seen_values(documents: list[Any]) -> dict[str, list[Any]]:
    """Values that members have at a key, by the key; at most two of each."""
    found: dict[str, list[Any]] = {}
    for document in documents:
        for part in objects_in(document):
            for name, value in part.items():
                if len(there := found.setdefault(name, [])) < 2 and value not in there:
                    there.append(value)
    return found


def _variants(base: Any, names: list[str], values: list[Any], seen: dict[str, list[Any]]) -> Iterator[Any]:
    places = [place for place in _places(base)]
    for place in places:
        inner = _get(base, place)
        if isinstance(inner, dict):
            for key in list(inner):
                yield _with(base, place, {k: v for k, v in inner.items() if k != key})
            # A key that neither schema names, which open objects take and closed ones refuse.
            unnamed = next(name for name in _UNNAMED if name not in names and name not in inner)
            yield from (_with(base, place, inner | {unnamed: value}) for value in VALUES[:4])
            for name in names:
                if name not in inner:
                    for value in [*seen.get(name, ()), *values]:
                        yield _with(base, place, inner | {name: value})
        if isinstance(inner, list):
            for part in inner[:2] or values:
                yield _with(base, place, [*inner, part])
            if inner:
                yield _with(base, place, inner[:-1])
        if isinstance(inner, str):
            yield from (_with(base, place, inner * n) for n in (2, 40))
        if isinstance(inner, (int, float)) and not isinstance(inner, bool):
            yield from (_with(base, place, changed) for changed in (inner + 1, inner - 1, -inner, inner * 1000))
        if place:
            for value in values:
                yield _with(base, place, value)


def _places(value: Any, most: int = 40) -> list[tuple[Any, ...]]:
    """The keys and positions that lead to each value in a document."""
    places: list[tuple[Any, ...]] = [()]
    for place in places:
        inner = _get(value, place)
        if len(places) < most and isinstance(inner, dict):
            places += [(*place, key) for key in inner]
        elif len(places) < most and isinstance(inner, list):
            places += [(*place, i) for i in range(len(inner))]
    return places[:most]


def _get(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def _with(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    out = copy.deepcopy(value)
    _get(out, place[:-1])[place[-1]] = new
    return out


def _written(value: Any, names: list[str]) -> Iterator[bytes]:
    """A document as JSON: its keys as they come, and in the order in which the schemas declare them; with and without
    blanks, since a source may allow one of the two alone.
    """
    rank = {name: place for place, name in enumerate(names)}
    for written in (value, _ordered(value, rank)):
        for separators in ((", ", ": "), (",", ":")):
            yield json.dumps(written, ensure_ascii=False, separators=separators).encode("utf-8", "replace")


def _ordered(value: Any, rank: dict[str, int]) -> Any:
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: rank.get(key, len(rank)))
        return {key: _ordered(value[key], rank) for key in keys}
    return [_ordered(part, rank) for part in value] if isinstance(value, list) else value


def _constants(documents: tuple[Any, Any]) -> list[Any]:
    """Constants of the schemas, and numbers and lengths at their bounds and beside them."""
    found: list[Any] = []
    for document in documents:
        for part in objects_in(document):
            found += [part["const"]] if "const" in part else []
            found += part["enum"][:20] if isinstance(part.get("enum"), list) else []
            for keyword, bound in part.items():
                if isinstance(bound, bool) or not isinstance(bound, (int, float)):
                    continue
                if keyword in ("minLength", "maxLength") and 0 <= bound <= 400:
                    found += ["x" * max(0, int(bound) + step) for step in (-1, 0, 1)]
                elif "imum" in keyword or keyword == "multipleOf":
                    found += [bound, bound + 1, bound - 1]
                elif keyword in ("minItems", "maxItems") and 0 <= bound <= 40:
                    found += [[0] * max(0, int(bound) + step) for step in (-1, 0, 1)]
    return [value for place, value in enumerate(found) if value not in found[:place]][:60]


def _sizes(documents: tuple[Any, Any]) -> list[int]:
    """Numbers of elements at the bounds of the schemas, and one beyond them."""
    bounds = [part[key] for document in documents for part in objects_in(document) for key in _ELEMENTS if key in part]
    whole = {int(bound) for bound in bounds if isinstance(bound, (int, float)) and not isinstance(bound, bool)}
    return sorted({size for bound in whole for size in (bound, bound + 1) if 3 < size <= MOST_ELEMENTS})


_ELEMENTS = ("minItems", "maxItems")
