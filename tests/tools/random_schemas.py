"""Random JSON Schemas of every draft, for comparing interlock with a validator.

`Schemas(rng, draft).root()` makes a schema of the draft's keywords over a small alphabet of keys, strings, numbers and
patterns, so that its parts meet and contradict each other often. Deterministic for a seed.
"""

import json
from decimal import Decimal

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019": "https://json-schema.org/draft/2019-09/schema",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}
KEYS = ["a", "b", "c", "ab", "é", "", "x-1", "$ref", 'q"', "a/b"]
# fmt: off
STRINGS = [
    "", "a", "b", "ab", "abc", "aa", "1", "é", "😀", 'q"', "a\nb", "x-1", "A", " ", "2024-02-29", "10.0.0.1",
    "2023-02-29", "::1", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "/a~1b/0", "/~2",
]
PATTERNS = [
    "a", "^a", "b$", "^a*$", "^[a-c]{1,2}$", "^(a|ab)c?$", "^\\d+$", "\\w", "^\\S*$", "^.{2}$", "^x-", "[^a]", "^$",
    "é|😀", "^(?!a)", "(?=.*b)a", "^[A-Z]?[a-z]+$", "\\n", "^\\u0061",
]
# fmt: on
# Those that are exact here (docs/json-schema.md, *Formats*), by the first draft for which the validator checks them.
FORMATS = {"4": ["ipv4", "ipv6"], "6": ["json-pointer"], "7": ["date"], "2019": ["uuid"], "2020": []}
# fmt: off
NUMBERS = [
    0, 1, -1, 2, 3, 5, 10, -7, 100, Decimal("0.5"), Decimal("1.5"), Decimal("-0.25"), Decimal("0.1"), Decimal("3.30"),
    Decimal("2.0"), 12345678901, Decimal("0.001"),
]
# fmt: on
DIVISORS = [1, 2, 3, 5, Decimal("0.5"), Decimal("0.1"), Decimal("0.25"), Decimal("1.5"), Decimal("0.01")]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def write(value, rng=None):
    """JSON text; with `rng`, keys in random order, blanks and escapes at random."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=rng is not None and rng.random() < 0.3)
    gap = (lambda: rng.choice(["", "", " ", "\n  "])) if rng else (lambda: "")
    if isinstance(value, list):
        return "[" + ",".join(gap() + write(v, rng) + gap() for v in value) + "]"
    if isinstance(value, dict):
        items = list(value.items())
        if rng:
            rng.shuffle(items)
        return (
            "{" + ",".join(gap() + write(k, rng) + gap() + ":" + gap() + write(v, rng) + gap() for k, v in items) + "}"
        )
    return json.dumps(value)


def any_value(rng, depth=2):
    kind = rng.choice(TYPES if depth else TYPES[:5])
    if kind == "array":
        return [any_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == "object":
        return {k: any_value(rng, depth - 1) for k in rng.sample(KEYS, rng.randrange(4))}
    if kind == "string":
        return rng.choice(STRINGS)
    if kind in ("integer", "number"):
        return rng.choice(NUMBERS)
    return None if kind == "null" else rng.random() < 0.5


class Schemas:
    """Makes schemas of one draft; definitions refer to each other by `refs`."""

    def __init__(self, rng, draft):
        self.rng, self.draft = rng, draft
        self.modern = draft in ("2019", "2020")
        self.place = "$defs" if self.modern else "definitions"
        self.names = ["d0", "d1"] if rng.random() < 0.4 else []
        self.unique = rng.random() < 0.3
        # In 2019-09 `contains` evaluates nothing; the validator reads it as 2020-12 does. Never both in one schema.
        both = draft != "2019"
        self.with_contains = draft != "4" and (both or rng.random() < 0.5)
        self.with_unevaluated_items = self.modern and (both or not self.with_contains)
        self.formats = rng.random() < 0.15
        self.format_names = [
            f for d in FORMATS if list(DRAFTS).index(d) <= list(DRAFTS).index(draft) for f in FORMATS[d]
        ]

    def root(self):
        s = self.schema(3)
        if not isinstance(s, dict):
            s = {"allOf": [s]} if self.draft != "4" else {}
        if "$ref" in s and not self.modern:
            s = {"allOf": [s]}
        s = {"$schema": DRAFTS[self.draft], **s}
        if self.names:
            s[self.place] = {n: self.schema(2) for n in self.names}
            if self.draft == "2020":
                for name, anchor in zip(self.names, "nm"):
                    if isinstance(s[self.place][name], bool):
                        s[self.place][name] = {}
                    s[self.place][name] = {"$dynamicAnchor": anchor, **s[self.place][name]}
        return s

    def schema(self, depth):
        r = self.rng
        if self.draft != "4" and r.random() < 0.06:
            return r.random() < 0.6
        if r.random() < 0.08 and self.names:
            ref = {"$ref": f"#/{self.place}/{r.choice(self.names)}"}
            if self.draft == "2020" and r.random() < 0.4:
                ref = r.choice([{"$dynamicRef": "#n"}, {"$dynamicRef": "#m"}, {"$ref": "#n"}, {"$ref": "#m"}])
            if self.draft == "2019" and r.random() < 0.3:
                ref = {"$recursiveRef": "#"}
            return {**ref, **self.part(depth - 1)} if self.modern and r.random() < 0.3 and depth else ref
        s = self.part(depth)
        if depth and r.random() < 0.4:
            self.combine(s, depth - 1)
        return s

    def part(self, depth):
        r, s = self.rng, {}
        kind = r.choice(["number", "string", "array", "object", "object", "array", "other"])
        if kind == "other" or depth <= 0 and r.random() < 0.5:
            pick = r.random()
            if pick < 0.3:
                s["enum"] = self.distinct([any_value(r) for _ in range(r.randrange(1, 5))])
            elif pick < 0.5 and self.draft != "4":
                s["const"] = any_value(r)
            elif pick < 0.9:
                s["type"] = r.choice(TYPES) if r.random() < 0.5 else r.sample(TYPES, r.randrange(1, 4))
            return s
        if r.random() < 0.75:
            s["type"] = r.choice(["integer", "number"]) if kind == "number" else kind
            if r.random() < 0.15:
                s["type"] = sorted({s["type"], r.choice(TYPES)})
        getattr(self, kind)(s, max(depth - 1, 0))
        return s

    def distinct(self, values):
        out = []
        for v in values:
            if not any(write(v) == write(w) or v == w for w in out):
                out.append(v)
        return out

    def some(self, s, p, key, make):
        if self.rng.random() < p:
            s[key] = make()

    def number(self, s, depth):
        r = self.rng
        self.some(s, 0.35, "minimum", lambda: r.choice(NUMBERS))
        self.some(s, 0.35, "maximum", lambda: r.choice(NUMBERS))
        if self.draft == "4":
            for side in ("minimum", "maximum"):
                if side in s:
                    self.some(s, 0.3, "exclusive" + side.capitalize(), lambda: r.random() < 0.7)
        else:
            self.some(s, 0.2, "exclusiveMinimum", lambda: r.choice(NUMBERS))
            self.some(s, 0.2, "exclusiveMaximum", lambda: r.choice(NUMBERS))
        self.some(s, 0.3, "multipleOf", lambda: r.choice(DIVISORS))

    def string(self, s, depth):
        r = self.rng
        self.some(s, 0.3, "minLength", lambda: r.randrange(4))
        self.some(s, 0.3, "maxLength", lambda: r.randrange(6))
        self.some(s, 0.5, "pattern", lambda: r.choice(PATTERNS))
        if self.formats:
            self.some(s, 0.5, "format", lambda: r.choice(self.format_names))

    def array(self, s, depth):
        r = self.rng
        if self.draft == "2020":
            self.some(s, 0.4, "prefixItems", lambda: [self.schema(depth) for _ in range(r.randrange(1, 4))])
            self.some(s, 0.4, "items", lambda: self.schema(depth))
        else:
            self.some(
                s,
                0.6,
                "items",
                lambda: (
                    self.schema(depth) if r.random() < 0.6 else [self.schema(depth) for _ in range(r.randrange(1, 4))]
                ),
            )
            self.some(s, 0.3, "additionalItems", lambda: self.schema(depth) if r.random() < 0.7 else False)
        self.some(s, 0.25, "minItems", lambda: r.randrange(3))
        self.some(s, 0.25, "maxItems", lambda: r.randrange(5))
        if self.unique:
            self.some(s, 0.3, "uniqueItems", lambda: r.random() < 0.85)
        if self.with_contains and r.random() < 0.3:
            s["contains"] = self.schema(depth)
            if self.modern:
                self.some(s, 0.3, "minContains", lambda: r.randrange(3))
                self.some(s, 0.3, "maxContains", lambda: r.randrange(1, 3))
        if self.with_unevaluated_items:
            self.some(s, 0.15, "unevaluatedItems", lambda: r.random() < 0.2 or self.schema(depth))

    def object(self, s, depth):
        r = self.rng
        keys = lambda n: r.sample(KEYS, r.randrange(1, n))
        self.some(s, 0.7, "properties", lambda: {k: self.schema(depth) for k in keys(4)})
        self.some(s, 0.4, "required", lambda: keys(3))
        self.some(s, 0.3, "additionalProperties", lambda: self.schema(depth) if r.random() < 0.6 else False)
        self.some(
            s,
            0.25,
            "patternProperties",
            lambda: {r.choice(PATTERNS): self.schema(depth) for _ in range(r.randrange(1, 3))},
        )
        self.some(s, 0.15, "minProperties", lambda: r.randrange(3))
        self.some(s, 0.15, "maxProperties", lambda: r.randrange(4))
        if self.draft != "4":
            self.some(
                s,
                0.12,
                "propertyNames",
                lambda: {"pattern": r.choice(PATTERNS)} if r.random() < 0.5 else self.schema(depth),
            )
        if self.modern:
            self.some(s, 0.12, "dependentRequired", lambda: {k: keys(3) for k in keys(3)})
            self.some(s, 0.12, "dependentSchemas", lambda: {k: self.schema(depth) for k in keys(3)})
            self.some(s, 0.15, "unevaluatedProperties", lambda: r.random() < 0.2 or self.schema(depth))
        else:
            self.some(
                s,
                0.15,
                "dependencies",
                lambda: {k: keys(3) if r.random() < 0.5 else self.schema(depth) for k in keys(3)},
            )

    def combine(self, s, depth):
        r = self.rng
        for key, p in (("allOf", 0.3), ("anyOf", 0.4), ("oneOf", 0.3)):
            self.some(s, p, key, lambda: [self.schema(depth) for _ in range(r.randrange(1, 4))])
        self.some(s, 0.2, "not", lambda: self.schema(depth))
        if self.draft not in ("4", "6") and r.random() < 0.25:
            s["if"] = self.schema(depth)
            self.some(s, 0.8, "then", lambda: self.schema(depth))
            self.some(s, 0.6, "else", lambda: self.schema(depth))
