"""Random schemas against jsonschema-rs, in both directions.

    python tests/tools/rival_schemas.py [--cases 1000] [--seed 1] [--show 20] [--only CASE] [--record FILE]

Each case is a schema of a random draft. Documents come from three sources: values of no schema's, values made after the
schema, and what random walks under the masks wrote; and all of them changed at one place. interlock must accept a document
exactly if the validator calls it valid, in any order of keys, and every walk must end in a document that is valid.

Numbers are written as plain decimals, because sets of numbers are narrower than the specification there
(docs/json-schema.md, *Numbers*); below `multipleOf`, numbers with more digits than a double are left out, because the
validator rounds them. Prints every difference with its case number, and counts at the end; exits with 1 if
there is a difference. Needs jsonschema-rs and an installed interlock; deterministic for a seed.
"""

import argparse
import collections
import copy
import json
import random
import re
import sys
from decimal import Decimal

import interlock
import jsonschema_rs

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019": "https://json-schema.org/draft/2019-09/schema",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}
KEYS = ["a", "b", "c", "ab", "é", "", "x-1", "$ref", 'q"', "a/b"]
STRINGS = ["", "a", "b", "ab", "abc", "aa", "1", "é", "😀", 'q"', "a\nb", "x-1", "A", " ", "2024-02-29", "10.0.0.1",
           "2023-02-29", "::1", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "/a~1b/0", "/~2"]
PATTERNS = [
    "a", "^a", "b$", "^a*$", "^[a-c]{1,2}$", "^(a|ab)c?$", "^\\d+$", "\\w", "^\\S*$", "^.{2}$", "^x-", "[^a]", "^$",
    "é|😀", "^(?!a)", "(?=.*b)a", "^[A-Z]?[a-z]+$", "\\n", "^\\u0061",
]
# Those that are exact here (docs/json-schema.md, *Formats*), by the first draft for which the validator checks them.
FORMATS = {"4": ["ipv4", "ipv6"], "6": ["json-pointer"], "7": ["date"], "2019": ["uuid"], "2020": []}
NUMBERS = [0, 1, -1, 2, 3, 5, 10, -7, 100, Decimal("0.5"), Decimal("1.5"), Decimal("-0.25"), Decimal("0.1"), Decimal("3.30"),
           Decimal("2.0"), 12345678901, Decimal("0.001")]
DIVISORS = [1, 2, 3, 5, Decimal("0.5"), Decimal("0.1"), Decimal("0.25"), Decimal("1.5"), Decimal("0.01")]
EXPONENT = re.compile(rb"[0-9][eE]")
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
        return "{" + ",".join(gap() + write(k, rng) + gap() + ":" + gap() + write(v, rng) + gap() for k, v in items) + "}"
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
        self.format_names = [f for d in FORMATS if list(DRAFTS).index(d) <= list(DRAFTS).index(draft) for f in FORMATS[d]]

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
            self.some(s, 0.6, "items", lambda: self.schema(depth) if r.random() < 0.6 else
                      [self.schema(depth) for _ in range(r.randrange(1, 4))])
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
        self.some(s, 0.25, "patternProperties", lambda: {r.choice(PATTERNS): self.schema(depth) for _ in range(r.randrange(1, 3))})
        self.some(s, 0.15, "minProperties", lambda: r.randrange(3))
        self.some(s, 0.15, "maxProperties", lambda: r.randrange(4))
        if self.draft != "4":
            self.some(s, 0.12, "propertyNames", lambda: {"pattern": r.choice(PATTERNS)} if r.random() < 0.5 else self.schema(depth))
        if self.modern:
            self.some(s, 0.12, "dependentRequired", lambda: {k: keys(3) for k in keys(3)})
            self.some(s, 0.12, "dependentSchemas", lambda: {k: self.schema(depth) for k in keys(3)})
            self.some(s, 0.15, "unevaluatedProperties", lambda: r.random() < 0.2 or self.schema(depth))
        else:
            self.some(s, 0.15, "dependencies", lambda: {k: keys(3) if r.random() < 0.5 else self.schema(depth) for k in keys(3)})

    def combine(self, s, depth):
        r = self.rng
        for key, p in (("allOf", 0.3), ("anyOf", 0.4), ("oneOf", 0.3)):
            self.some(s, p, key, lambda: [self.schema(depth) for _ in range(r.randrange(1, 4))])
        self.some(s, 0.2, "not", lambda: self.schema(depth))
        if self.draft not in ("4", "6") and r.random() < 0.25:
            s["if"] = self.schema(depth)
            self.some(s, 0.8, "then", lambda: self.schema(depth))
            self.some(s, 0.6, "else", lambda: self.schema(depth))


def after(rng, s, root, depth=4):
    """A value that follows some of the schema: more often valid than any value."""
    if not isinstance(s, dict) or depth <= 0 or rng.random() < 0.04:
        return any_value(rng, 1)
    if "const" in s:
        return copy.deepcopy(s["const"])
    if "enum" in s:
        return copy.deepcopy(rng.choice(s["enum"]))
    ref = next((s[k] for k in ("$ref", "$dynamicRef", "$recursiveRef") if k in s), None)
    if isinstance(ref, str) and rng.random() < 0.9:
        where = root
        if ref in ("#n", "#m"):
            where = root["$defs"]["d0" if ref == "#n" else "d1"]
        for step in ref[2:].split("/") if ref.startswith("#/") else []:
            where = where[step]
        return after(rng, where, root, depth - 1)
    kind = s.get("type")
    if isinstance(kind, list):
        kind = rng.choice(kind)
    inner = [x for k in ("allOf", "anyOf", "oneOf") for x in s.get(k, [])] + [s[k] for k in ("then", "else", "if") if k in s]
    if inner and rng.random() < 0.5:
        value = after(rng, rng.choice(inner), root, depth - 1)
        if not (isinstance(value, dict) and (kind in (None, "object"))):
            return value
        base = value
    else:
        base = {}
    if kind is None:
        kinds = [("properties", "object"), ("required", "object"), ("patternProperties", "object"), ("items", "array"),
                 ("prefixItems", "array"), ("contains", "array"), ("minimum", "number"), ("multipleOf", "number"),
                 ("pattern", "string"), ("maxLength", "string")]
        kind = next((t for k, t in kinds if k in s), rng.choice(TYPES))
    if kind == "object" or base:
        props, out = s.get("properties", {}), dict(base)
        for k, sub in props.items():
            if k in s.get("required", []) or rng.random() < 0.5:
                out[k] = after(rng, sub, root, depth - 1)
        for k in s.get("required", []):
            out.setdefault(k, after(rng, s.get("additionalProperties", True), root, depth - 1))
        while len(out) < s.get("minProperties", 0) or rng.random() < 0.25:
            more = s.get("additionalProperties", s.get("unevaluatedProperties", True))
            if s.get("patternProperties") and rng.random() < 0.6:
                more = rng.choice(list(s["patternProperties"].values()))
            out[rng.choice(KEYS + STRINGS)] = after(rng, more, root, depth - 1)
            if len(out) > 6:
                break
        return out
    if kind == "array":
        items = s.get("items", True)
        first = s.get("prefixItems", items if isinstance(items, list) else [])
        rest = s.get("additionalItems", True) if isinstance(items, list) else items
        n = rng.randrange(s.get("minItems", 0), max(s.get("minItems", 0), s.get("maxItems", 4)) + 1)
        out = []
        for i in range(n):
            sub = first[i] if i < len(first) else rest
            if "contains" in s and rng.random() < 0.4:
                sub = s["contains"]
            out.append(after(rng, sub, root, depth - 1))
        return out
    if kind == "string":
        return rng.choice(STRINGS)
    if kind in ("integer", "number"):
        near = [s[k] for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
                if k in s and not isinstance(s[k], bool)]
        base = rng.choice(near or NUMBERS)
        step = s.get("multipleOf", 1)
        return base + step * rng.choice([0, 0, 1, -1, 2])
    return None if kind == "null" else rng.random() < 0.5


def mutant(rng, value):
    """The value changed at one place."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        out, k = dict(value), rng.choice(list(value))
        pick = rng.random()
        if pick < 0.3:
            del out[k]
        elif pick < 0.5:
            out[rng.choice(KEYS)] = any_value(rng, 1)
        else:
            out[k] = mutant(rng, out[k])
        return out
    if isinstance(value, list) and value and rng.random() < 0.8:
        out, i = list(value), rng.randrange(len(value))
        pick = rng.random()
        if pick < 0.25:
            del out[i]
        elif pick < 0.5:
            out.insert(i, copy.deepcopy(rng.choice(out)) if rng.random() < 0.5 else any_value(rng, 1))
        else:
            out[i] = mutant(rng, out[i])
        return out
    if isinstance(value, str):
        return rng.choice([value + "a", value[1:], value.upper(), value + value, rng.choice(STRINGS)])
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return rng.choice([value + 1, -value, value * 2, value + Decimal("0.5"), value + Decimal("0.01")])
    return any_value(rng, 2)


def plain(value):
    """Decimals written as in the text, whole ones without a fraction (draft 4 disagrees about those)."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 10**18 else value
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def rounds(value):
    """Whether some number has more digits than a double: the validator divides doubles there."""
    if isinstance(value, (list, dict)):
        return any(map(rounds, value.values() if isinstance(value, dict) else value))
    return isinstance(value, (int, Decimal)) and len(str(value).replace("-", "").replace(".", "").strip("0")) > 15


def read(text):
    def pairs(p):
        d = dict(p)
        if len(d) != len(p):
            raise ValueError("a key twice")
        return d

    return json.loads(text, parse_float=Decimal, object_pairs_hook=pairs)


def vocabulary():
    words = ["true", "false", "null", '":', '", "', '"}', '"]', "},", "],", '{"', '["', "[[", "{}", "[]", "ab", "abc", '"a"',
             '"b"', '"c":', "a\":", "\\u00", "\\n", "10", "00", ".5", "1,", "é", "😀", " \n", "  ", '"a":', '"b":', '"ab":', "-1"]
    tokens = [bytes([b]) for b in range(256)] + [w.encode() for w in words] + [b""]
    return interlock.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1]), tokens


def walk(rng, guide, tokens, most=120):
    """A document written under the masks, or why there is none. Closes what is open once `most` tokens are written."""
    out, eos = b"", len(tokens) - 1
    for step in range(most * 4):
        ids = guide.allowed_token_ids().tolist()
        if not ids:
            return None, "dead end after " + repr(out[-80:])
        if eos in ids and (len(ids) == 1 or rng.random() < 0.5 or step > most // 2):
            return out, None
        near = [t for t in ids if t != eos and not tokens[t].isspace()] or ids
        if step > 12:
            close = [t for t in near if tokens[t] in (b'"', b"}", b"]", b'"}', b'"]')]
            if close and rng.random() < (0.5 if step < most else 0.9):
                near = close
            else:
                near = [t for t in near if len(tokens[t]) == 1 and tokens[t] not in b"[{,"] or near
        t = rng.choice(near)
        guide.advance(t)
        out += tokens[t]
    return None, None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int)
    p.add_argument("--show", type=int, default=20)
    p.add_argument("--progress", type=int, default=0)
    p.add_argument("--record", help="write the schemas and some documents to this file, for tests without the validator")
    a = p.parse_args()
    recorded = []
    v, tokens = vocabulary()
    count, shown = collections.Counter(), 0

    def differ(what, number, schema, more):
        nonlocal shown
        count["DIFFERENCE " + what] += 1
        if shown < a.show:
            shown += 1
            print(f"case {number}: {what}\n  {write(schema)}\n  {more}", flush=True)

    for number in range(a.cases) if a.only is None else [a.only]:
        if a.progress and number % a.progress == 0:
            print(number, dict(count), flush=True)
        rng = random.Random(f"{a.seed}/{number}")
        draft = rng.choice(list(DRAFTS))
        schema = Schemas(rng, draft).root()
        text = write(schema)
        try:
            check = jsonschema_rs.validator_for(read(text), validate_formats='"format":' in text)
        except Exception as e:
            count[f"validator refuses: {type(e).__name__}"] += 1
            continue
        made = [any_value(rng) for _ in range(8)] + [after(rng, schema, schema) for _ in range(24)]
        made += [mutant(rng, rng.choice(made)) for _ in range(24)]
        try:
            index = interlock.Index.from_json_schema(text, v, property_order="any")
        except interlock.UnsatisfiableError as e:
            count["unsatisfiable"] += 1
            for value in made:
                if check.is_valid(plain(value)):
                    differ("called unsatisfiable", number, schema, f"{write(value)} ({e})")
                    break
            continue
        except interlock.InterlockError as e:
            # What a schema means that applies to itself in place is left open by the specification.
            circle = "applies to itself in place" in str(e)
            count[f"refused: {'a circle' if circle else type(e).__name__}"] += 1
            if isinstance(e, (interlock.SchemaError, interlock.InternalError)) and not circle:
                differ("refused as malformed", number, schema, str(e))
            continue
        count["schemas"] += 1
        guide = index.guide()
        for _ in range(6):
            guide.reset()
            out, why = walk(rng, guide, tokens)
            count["walks"] += 1
            if why:
                differ("dead end", number, schema, why)
            elif out is None:
                count["walks cut"] += 1
            else:
                try:
                    value = read(out.decode())
                except ValueError as e:
                    differ("not JSON", number, schema, f"{out!r} {e}")
                    continue
                if "multipleOf" in text and rounds(value):
                    count["walks that only decimals decide"] += 1
                    continue
                if not check.is_valid(value):
                    differ("wrote what is invalid", number, schema, out.decode())
                elif not EXPONENT.search(out):
                    made += [value, mutant(rng, value)]
        accepted, refused = [], []
        for value in made:
            value = plain(value)
            if "multipleOf" in text and rounds(value):
                continue
            valid = check.is_valid(value)
            line = write(value, rng).encode()
            guide.reset()
            accepts = guide.advance_many(line) == len(line) and guide.is_accepting
            count["valid" if valid else "invalid"] += 1
            if valid != accepts:
                differ("accepts what is invalid" if accepts else "refuses what is valid", number, schema, line.decode())
                break
            (accepted if accepts else refused).append(line.decode())
        if a.record and len(text) < 900 and accepted and len(refused) > 3:
            short = lambda lines: sorted(dict.fromkeys(lines), key=len)[:5]
            row = {"schema": text, "accepts": short(accepted), "refuses": short(refused)}
            recorded.append(json.dumps(row, ensure_ascii=False))
    if a.record:
        with open(a.record, "w") as f:
            f.write("[\n" + ",\n".join(recorded) + "\n]\n")
    print(dict(count))
    return any(k.startswith("DIFFERENCE") for k in count)


if __name__ == "__main__":
    sys.exit(main())
