"""Examples that look like what people write: everyday words, short numbers, plain spelling.

The masks decide about every byte, as for a model; the schema only suggests what to try. Words, dates or numbers are
offered, and taken where the guide takes them; where none fits (a pattern, a rare format), characters are chosen one by
one, the everyday ones first. Grammars have a module of their own (``grammar_samples``).
"""

from __future__ import annotations

import contextlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import interlock
from interlock._recipe import Recipe
from interlock.explain.references import References
from interlock.explain.shapes import Shape, Shapes
from interlock.samples.grammar_samples import (
    CLOSERS,
    ending,
    example_of_grammar,
    go_shortest_way,
    keywords_of,
)
from interlock.samples.next_kinds import comment_marks, other_kind, takes_words
from interlock.samples.room import GivenUp, Room, TooLarge
from interlock.string_formats import FORMATS
from interlock.string_formats.everyday_words import WORDS

TRIES = 8
SEARCHES = 40
"""How often the shortest way to the end is looked for, which may take long."""
MANY = 1_000_000
"""Characters, elements and members that a schema may ask for at least; more are given up."""
LONG = 12
"""Characters after which a text goes the shortest way to its end."""
MOST = 400
"""Characters beyond the least ones after which a text is given up."""
OPENERS = {"string": b'"', "object": b"{", "array": b"[", "number": b"-0123456789", "boolean": b"tf", "null": b"n"}
WEIGHTS = {"string": 6, "number": 4, "boolean": 2, "object": 2, "array": 2, "null": 1}


def example(recipe: Recipe, rng: random.Random, keywords: Sequence[str] = ()) -> bytes | None:
    """A text that a source accepts; ``None`` if ``TRIES`` ways came to nothing. ``keywords`` are those of a grammar
    that are wanted; otherwise all of them are.
    """
    if recipe.method == "from_choices":
        return str(rng.choice(recipe.source)).encode()
    if recipe.method == "from_grammar":
        wanted = keywords or keywords_of(recipe.source)
        return example_of_grammar(recipe.compile(), rng, WORDS, wanted, comment_marks(recipe.source))
    own, plain = recipe.compile(), everyday(recipe)
    room = Room()
    for attempt in range(TRIES):
        writer = _Writer((plain if attempt < TRIES - 2 else own).guide(), rng, recipe, bold=attempt < TRIES // 2)
        try:
            writer.whole(room)
        except GivenUp as reason:
            room = Room(is_shared=room.is_shared or isinstance(reason, TooLarge))
            continue
        # Plain spelling takes constants with more zeros than any spelling does.
        if own.guide().validate(writer.guide.tokens) == writer.guide.num_tokens:
            return own.vocabulary.decode(writer.guide.tokens)
    return None


def everyday(recipe: Recipe) -> interlock.Index:
    """The index over bytes that writes a schema's documents as ``json.dumps`` does; of anything else, that itself."""
    if recipe.method != "from_json_schema":
        return recipe.compile()
    changed: dict[str, Any] = {"spelling": "plain"}
    if recipe.options["whitespace"] == "flexible":
        changed["whitespace"] = "spaced"
    try:
        return recipe.compile(**changed)
    except interlock.InterlockError:
        return recipe.compile()


class _Writer:
    """Writes one text that a person might write, and asks a guide about each part of it."""

    def __init__(self, guide: interlock.Guide, rng: random.Random, recipe: Recipe, bold: bool) -> None:
        self.guide = guide
        self.rng = rng
        self.bold = bold
        self.searches = 0
        self.schema: Any = None
        if recipe.method == "from_json_schema":
            self.schema = json.loads(recipe.source, parse_float=Decimal, parse_int=Decimal)
            documents = {uri: json.loads(text) for uri, text in recipe.options["documents"].items()}
            # The alternatives of a bold one are drawn; where that led to nothing, all of them count.
            references = References(self.schema, documents)
            self.shapes, self.every = Shapes(references, rng if bold else None), Shapes(references)

    # Bytes.

    def put(self, text: str) -> bool:
        """Write ``text`` if all of it is allowed."""
        data = list(text.encode())
        taken = self.guide.advance_many(data)
        if taken < len(data):
            self.guide.rollback(taken)
        return taken == len(data)

    def allowed(self) -> set[int]:
        """The tokens that may come next."""
        return set(self.guide.allowed_token_ids().tolist())

    def whole(self, room: Room) -> None:
        """A text from its beginning to its end."""
        if self.schema is None:
            least = 0
            with contextlib.suppress(interlock.InterlockError):
                least = self.guide.min_tokens_to_finish()
            if least > MANY:
                raise GivenUp
            self.wander(lambda: self.guide.is_accepting, least, is_whole=True)
        else:
            self.value(self.shapes.root(self.schema), 0, room)
        if not self.guide.is_accepting:
            raise GivenUp

    def wander(self, may_end: Callable[[], bool], least: int = 0, is_whole: bool = False) -> None:
        """Characters one by one, everyday ones first, until the text may end and is long enough. Where
        ``is_whole``, parts of it with words come to their own ends.
        """
        start = part = self.guide.num_tokens
        words, fresh = 0, False
        while True:
            length = self.guide.num_tokens - start
            allowed = self.allowed() - {256}
            ends = may_end()
            inside = bool(allowed) and all(0x80 <= byte < 0xC0 for byte in allowed)
            long_number = length > 2 and all(0x30 <= byte <= 0x39 for byte in self.guide.tokens[-3:])
            chance = 1.0 if long_number and not takes_words(allowed) else 0.15 + length / 16
            if ends and not inside and (not allowed or length >= least and self.rng.random() < chance):
                return
            if not allowed or length > MOST + least:
                if ends and not inside:
                    return
                raise GivenUp
            enough = length >= least and (words > 2 or self.rng.random() < 0.3)
            if is_whole and fresh and enough and not ends and self.leave(allowed):
                part, words, fresh = self.guide.num_tokens, 0, False
                continue
            late = self.guide.num_tokens - part > LONG + least
            if not (late or fresh or inside):
                other = other_kind(self.guide, self.rng, allowed, b"" if is_whole else b'"\\')
                if other is not None:
                    self.guide.advance(other)
                    continue
            fits = takes_words(allowed) and not inside and (words < 3 or length < least) and not fresh
            before = self.guide.num_tokens
            if fits and self.rng.random() < 0.85 and self.put(self.rng.choice(WORDS)):
                part = part if words else before
                words, fresh = words + 1, True
                continue
            byte = self.nearest_end(allowed) if late else self.likely(allowed, length, fresh)
            self.guide.advance(byte)
            fresh = False

    def leave(self, allowed: set[int]) -> bool:
        """Write what ends a text in which words may come: one character, or the shortest way out of it."""
        if (byte := ending(self.guide, allowed)) is not None:
            self.guide.advance(byte)
            return True
        self.searches += 1
        return self.searches <= SEARCHES and go_shortest_way(self.guide)

    def likely(self, allowed: set[int], length: int, after_word: bool) -> int:
        """One of the allowed bytes, as people would choose; after a word, one that is no letter."""
        if after_word and (blank := allowed & set(b" ") or allowed & set(b"-_./")):
            return self.rng.choice(sorted(blank))
        if length and not takes_words(allowed):
            allowed = self.between(allowed)
            if marks := self.behind_number(allowed):
                return self.rng.choice(marks)
        tiers = (
            [byte for byte in allowed if chr(byte).isascii() and chr(byte).isalnum()],
            [byte for byte in allowed if byte in b"-_./:@ " and (byte != 0x20 or length)],
            [byte for byte in allowed if 0x20 < byte < 0x7F and byte not in b'"\\'],
            [byte for byte in allowed if byte == 0xC3] or [byte for byte in allowed if 0x80 <= byte],
        )
        for tier in tiers:
            if tier:
                weights = [4 if 0x61 <= byte <= 0x7A else 3 if 0x30 <= byte <= 0x39 else 1 for byte in sorted(tier)]
                return self.rng.choices(sorted(tier), weights)[0]
        return self.rng.choice(sorted(allowed))

    def behind_number(self, allowed: set[int]) -> list[int]:
        """What ends a number that is long enough; nothing where there is no number, or it should go on."""
        if not any(0x30 <= byte <= 0x39 for byte in allowed) or any(
            chr(byte).isalpha() for byte in allowed if byte < 0x80
        ):
            return []
        digits = next((n for n, byte in enumerate(reversed(self.guide.tokens[-3:])) if not 0x30 <= byte <= 0x39), 3)
        ends = sorted(allowed & set(b"-_./:"))
        return ends if self.rng.random() < digits / 3 else []

    def between(self, allowed: set[int]) -> set[int]:
        """Of what may stand between words and marks: one blank behind a comma or a colon, and none elsewhere."""
        last = self.guide.tokens[-1]
        if last in b",:" and 0x20 in allowed:
            return {0x20}
        return allowed - set(b" \t\r\n") or allowed

    def nearest_end(self, allowed: set[int]) -> int:
        """The byte after which least has to follow; of several, an everyday one."""
        best, least = min(allowed), float("inf")
        self.searches += 1
        if self.searches > SEARCHES:
            raise GivenUp
        mixed = sorted(allowed, key=lambda b: self.rng.random())
        plain = [byte for byte in mixed if byte < 0x80 and chr(byte).isalnum()]
        marks = [byte for byte in CLOSERS if byte in allowed]
        others = [byte for byte in mixed if byte not in plain and byte not in marks]
        for byte in [*plain[:3], *marks, *others[:5]]:
            self.guide.advance(byte)
            try:
                left = self.guide.min_tokens_to_finish()
            except interlock.UnsupportedError:
                left = 1 << 30
            self.guide.rollback(1)
            if left < least:
                best, least = byte, left
        return best

    # JSON.

    def value(self, shapes: list[Shape], depth: int, room: Room) -> None:
        """A value that these schemas suggest and the guide allows."""
        for text in self.suggested(shapes):
            if self.scalar(text):
                return
        allowed = self.allowed()
        kinds = [kind for kind, opener in OPENERS.items() if allowed & set(opener)]
        named = {name for shape in shapes for name in _types(shape.schema)}
        if room.is_small(self.guide.num_tokens):  # Also those of an alternative that was not drawn.
            kinds = _without_parts(kinds)
        kinds = [kind for kind in kinds if kind in named] or kinds
        if depth > 3:
            kinds = _without_parts(kinds)
        if not kinds or depth > 40:
            raise GivenUp
        kind = self.rng.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]
        if kind == "string":
            self.string(shapes)
        elif kind == "number":
            self.number(shapes)
        elif kind in ("object", "array"):
            room.check(self.guide.num_tokens)
            (self.object if kind == "object" else self.array)(shapes, depth, room)
        elif not any(self.put(word) for word in self.shuffled(["true", "false"] if kind == "boolean" else ["null"])):
            raise GivenUp

    def shuffled(self, items: list[Any]) -> list[Any]:
        """The items in another order."""
        return self.rng.sample(items, len(items))

    def suggested(self, shapes: list[Shape]) -> Iterator[str]:
        """Constants of the schemas, and often their examples."""
        constants: list[Any] = []
        for shape in shapes:
            constants += [shape.schema["const"]] if "const" in shape.schema else []
            constants += shape.schema["enum"] if isinstance(shape.schema.get("enum"), list) else []
        shown: list[Any] = []
        if self.rng.random() < 0.6:
            for shape in shapes:
                shown += shape.schema["examples"] if isinstance(shape.schema.get("examples"), list) else []
        for value in self.shuffled(constants)[:40] + self.shuffled(shown)[:4]:
            for ascii in (False, True):
                yield _dumped(value, ascii)

    def scalar(self, text: str) -> bool:
        """Write a text if the value may end after it."""
        before = self.guide.num_tokens
        if self.put(text):
            if self.guide.is_accepting or self.allowed() & set(b",]} \n"):
                return True
            self.guide.rollback(self.guide.num_tokens - before)
        return False

    def string(self, shapes: list[Shape]) -> None:
        """Write a string: of a format, of words, or any that is allowed. ``GivenUp`` where none is found."""
        formats = [shape.schema.get("format") for shape in shapes]
        for name in formats:
            if name in FORMATS and self.scalar(json.dumps(FORMATS[name].sample(self.rng))):
                return
        least = self.asked(shapes, "minLength")
        for words in (1 + (self.rng.random() < 0.25), 1, 2):
            text = " ".join(self.rng.choice(WORDS) for _ in range(words))
            if len(text) < least:
                missing = self.rng.choices(WORDS, k=(least - len(text)) // 4 + 1)  # Each has three letters or more.
                text = " ".join([text, *missing])
                text = text[: max(least, text.find(" ", least))]
            if self.scalar(json.dumps(text)):
                return
        for known in self.shuffled(list(FORMATS.values())):
            if self.scalar(json.dumps(known.sample(self.rng))):
                return
        if not self.put('"'):
            raise GivenUp
        self.wander(lambda: ord('"') in self.allowed(), least)
        if not self.put('"'):
            raise GivenUp

    def number(self, shapes: list[Shape]) -> None:
        """Write a number within its bounds. ``GivenUp`` where none is found."""
        low = max([_number(shape.schema.get(k), None) for shape in shapes for k in ("minimum", "exclusiveMinimum")
                   if _number(shape.schema.get(k), None) is not None], default=None)  # fmt: skip
        high = min([_number(shape.schema.get(k), None) for shape in shapes for k in ("maximum", "exclusiveMaximum")
                    if _number(shape.schema.get(k), None) is not None], default=None)  # fmt: skip
        steps = [n for shape in shapes if (n := _number(shape.schema.get("multipleOf"), None))]
        begin = low if low is not None else high - 50 if high is not None else 0
        end = high if high is not None else begin + 50
        whole = any("integer" in _types(shape.schema) for shape in shapes)
        for _ in range(4):
            drawn = Decimal(str(begin)) + (Decimal(str(end)) - Decimal(str(begin))) * self.rng.randrange(101) / 100
            for step in steps:
                drawn = (drawn / Decimal(str(step))).to_integral_value() * Decimal(str(step))
            finest = min((Decimal(str(step)) for step in steps), default=Decimal(1))
            texts = [str(int(drawn)), *([] if whole else [format(round(drawn, 2).normalize(), "f")])]
            if not whole and finest % 1:
                # A price is 12.35 rather than 12: the steps between the whole numbers are what the schema is about.
                between = drawn.to_integral_value() + finest * self.rng.randrange(1, max(2, int(1 / finest)))
                texts = [format(value.normalize(), "f") for value in (between, drawn)] + texts[:1]
            for text in texts:
                if self.scalar(text):
                    return
        # What is whole and a multiple of a fraction is a multiple of its numerator.
        common = math.lcm(1, *(Fraction(str(step)).numerator for step in steps))
        for text in (str(common * self.rng.randrange(1, 6)), "0", str(begin), str(end)):
            if self.scalar(text):
                return
        self.wander(lambda: bool(self.allowed() & set(b",]} \n")) or self.guide.is_accepting)

    def asked(self, shapes: list[Shape], keyword: str) -> int:
        """The largest number that the schemas ask for by a keyword of a least number."""
        least: int = max([_number(shape.schema.get(keyword), 0) for shape in shapes], default=0)
        if least > MANY:
            raise GivenUp
        return least

    def separator(self) -> bool:
        """Write a comma; false where none is allowed."""
        return self.put(", ") or self.put(",")

    def key(self, name: str, first: bool) -> bool:
        """Write a key, with the comma before it and the colon behind it, if that is allowed."""
        before = self.guide.num_tokens
        if first or self.separator():
            for ascii in (False, True):
                if self.put(json.dumps(name, ensure_ascii=ascii)) and self.colon():
                    return True
        self.guide.rollback(self.guide.num_tokens - before)
        return False

    def colon(self) -> bool:
        """Write a colon; false where none is allowed."""
        return self.put(": ") or self.put(":")

    def object(self, shapes: list[Shape], depth: int, room: Room) -> None:
        """Write an object with some of its members. ``GivenUp`` where it cannot be finished."""
        if not self.put("{"):
            raise GivenUp
        required = set(self.shapes.required(shapes))
        every = self.every.of([(shape.schema, shape.place) for shape in shapes])
        elsewhere = set(
            self.every.required(every)
        )  # What a condition or another alternative requires is a matter of it.
        first, begin = True, self.guide.num_tokens
        names = self.shapes.names(shapes)
        for left, name in zip(range(len(names), 0, -1), names, strict=True):
            left_out = self.bold and self.rng.random() < (0.5 if name in elsewhere else 0.25)
            size = self.guide.num_tokens
            is_taken = name in required or depth < 4 and not left_out and room.takes(begin, size, len(names), self.rng)
            if is_taken and self.key(name, first):
                first = False
                self.value(self.shapes.member(shapes, name), depth + 1, room.share(size, left))
        for _ in range(40 + self.asked(shapes, "minProperties")):
            # An open object of which nothing is known gets a member or two.
            more = first and depth < 3 and not names and self.rng.random() < 0.7
            if not more and self.put("}"):
                return
            name = self.rng.choice(WORDS)
            made = next((made for made in self.keys_like(name) if self.key(made, first)), "")
            if made:
                name = made
            elif not more or not self.put("}"):
                self.made_key(first)
            else:
                return
            first = False
            self.value(self.shapes.member(shapes, name), depth + 1, room.share(self.guide.num_tokens, 1))
        raise GivenUp

    def keys_like(self, word: str) -> tuple[str, ...]:
        """What people would call a key: a word; where that is refused, other spellings, longer and shorter ones."""
        other, number = self.rng.choice(WORDS), self.rng.randrange(1, 100)
        two = (f"{word}_{other}", f"{word}-{other}", f"{word}{other.capitalize()}")
        return (word, word.capitalize(), word.upper(), *two, f"{word}{number}", f"x-{word}", str(number), word[:2])

    def made_key(self, first: bool) -> None:
        """A key that no word is, such as one that must match a pattern."""
        if not first and not self.separator() or not self.put('"'):
            raise GivenUp
        self.wander(lambda: ord('"') in self.allowed())
        if not self.put('"') or not self.colon():
            raise GivenUp

    def array(self, shapes: list[Shape], depth: int, room: Room) -> None:
        """Write an array of a few elements. ``GivenUp`` where it cannot be finished."""
        if not self.put("["):
            raise GivenUp
        wanted = self.rng.choice([1, 2, 2, 3] if depth < 3 else [0, 1])
        least = self.asked(shapes, "minItems")
        for count in range(2000 + least):
            wanted = 0 if room.is_small(self.guide.num_tokens) else wanted
            if count >= wanted and self.put("]"):
                return
            if count and not self.separator():
                if self.put("]"):
                    return
                raise GivenUp
            if not count and self.allowed() == set(b"]"):
                self.put("]")
                return
            parts = max(1, max(wanted, least) - count)
            self.value(self.shapes.element(shapes, count), depth + 1, room.share(self.guide.num_tokens, parts))
        raise GivenUp


def _without_parts(kinds: list[str]) -> list[str]:
    """Those that hold no values, where there are such."""
    return [kind for kind in kinds if kind not in ("object", "array")] or kinds


def _types(schema: dict[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return [*kinds, *(["number"] if "integer" in kinds else [])]


def _number(value: Any, default: Any) -> Any:
    return (int(value) if value == int(value) else float(value)) if isinstance(value, Decimal) else default


def _dumped(value: Any, ascii: bool) -> str:
    """JSON as ``json.dumps`` writes it, with the numbers of the schema as they stand there."""
    if isinstance(value, Decimal):
        text = str(value)
        return text if re.fullmatch(r"-?[0-9.]+", text) else str(float(value))
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{json.dumps(k, ensure_ascii=ascii)}: {_dumped(v, ascii)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_dumped(v, ascii) for v in value) + "]"
    return json.dumps(value, ensure_ascii=ascii)
