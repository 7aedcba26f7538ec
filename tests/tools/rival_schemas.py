"""Random schemas against jsonschema-rs, in both directions.

    python tests/tools/rival_schemas.py [--cases 1000] [--seed 1] [--show 20] [--only CASE] [--record FILE]

Each case is a schema of a random draft. Documents come from three sources: values of no schema's, values made after the
schema, and what random walks under the masks wrote; and all of them changed at one place. interlock must accept a
document exactly if the validator calls it valid, in any order of keys, and every walk must end in a document that is
valid.

Numbers are written as plain decimals, because sets of numbers are narrower than the specification there (docs/json-
schema.md, *Numbers*). Left out are, below `multipleOf`, numbers with more digits than a double, because the validator
rounds them, and decimals whose digits before the point and as many behind it as the finest divisor has are more than
15, because they are not written then; and below `integer`, which may be negated, such decimals. Prints every difference
with its case number, and counts at the end; exits with 1 if there is a difference. Needs jsonschema-rs and an installed
interlock; deterministic for a seed.
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
from random_schemas import DRAFTS, KEYS, NUMBERS, STRINGS, TYPES, Schemas, any_value, write

EXPONENT = re.compile(rb"[0-9][eE]")
# Digits that every double keeps.
KEPT_DIGITS = 15


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
    inner = [x for k in ("allOf", "anyOf", "oneOf") for x in s.get(k, [])] + [
        s[k] for k in ("then", "else", "if") if k in s
    ]
    if inner and rng.random() < 0.5:
        value = after(rng, rng.choice(inner), root, depth - 1)
        if not (isinstance(value, dict) and (kind in (None, "object"))):
            return value
        base = value
    else:
        base = {}
    if kind is None:
        kinds = [
            ("properties", "object"),
            ("required", "object"),
            ("patternProperties", "object"),
            ("items", "array"),
            ("prefixItems", "array"),
            ("contains", "array"),
            ("minimum", "number"),
            ("multipleOf", "number"),
            ("pattern", "string"),
            ("maxLength", "string"),
        ]
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
        near = [
            s[k]
            for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
            if k in s and not isinstance(s[k], bool)
        ]
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
        return int(value) if value == value.to_integral_value() and abs(value) < 10**100 else value
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def finest(schema):
    """The most digits behind the point of a divisor, `None` where there is no divisor."""
    if not isinstance(schema, (list, dict)):
        return None
    found = [finest(s) for s in (schema.values() if isinstance(schema, dict) else schema)]
    divisor = schema.get("multipleOf") if isinstance(schema, dict) else None
    if isinstance(divisor, (int, Decimal)):
        found.append(max(0, -Decimal(divisor).normalize().as_tuple().exponent))
    return max((places for places in found if places is not None), default=None)


def left_out(text, places, value):
    """Whether the schema's text has a keyword for which only decimals decide about the value, or that lets it be
    written without a point only. `places` are those of its finest divisor."""
    if isinstance(value, (list, dict)):
        return any(left_out(text, places, v) for v in (value.values() if isinstance(value, dict) else value))
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return False
    # The validator divides doubles.
    rounds = len(format(abs(value), "f").replace(".", "").strip("0")) > KEPT_DIGITS
    if value == int(value):
        return rounds and places is not None
    long = len(str(abs(int(value)))) + (places or 0) > KEPT_DIGITS
    return rounds and '"integer"' in text or places is not None and (rounds or long)


def read(text):
    def pairs(p):
        d = dict(p)
        if len(d) != len(p):
            raise ValueError("a key twice")
        return d

    return json.loads(text, parse_float=Decimal, object_pairs_hook=pairs)


def vocabulary():
    words = [
        "true",
        "false",
        "null",
        '":',
        '", "',
        '"}',
        '"]',
        "},",
        "],",
        '{"',
        '["',
        "[[",
        "{}",
        "[]",
        "ab",
        "abc",
        '"a"',
        '"b"',
        '"c":',
        'a":',
        "\\u00",
        "\\n",
        "10",
        "00",
        ".5",
        "1,",
        "é",
        "😀",
        " \n",
        "  ",
        '"a":',
        '"b":',
        '"ab":',
        "-1",
    ]
    tokens = [bytes([b]) for b in range(256)] + [w.encode() for w in words] + [b""]
    return interlock.Vocabulary(tokens, eos_token_ids=[len(tokens) - 1]), tokens


def walk(rng, guide, tokens, most=120):
    """A document written under the masks, or why there is none. Closes what is open once `most` tokens are written."""
    out, eos = b"", len(tokens) - 1
    for step in range(most * 4):
        ids = guide.allowed_token_ids().tolist()
        if not ids:
            return None, f"dead end after {out[-80:]!r}"
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
        if not guide.try_advance(t):
            return None, f"the mask allows {tokens[t]!r}, which cannot be taken after {out[-80:]!r}"
        out += tokens[t]
    return None, None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int)
    p.add_argument("--show", type=int, default=20)
    p.add_argument("--progress", type=int, default=0)
    p.add_argument(
        "--record", help="write the schemas and some documents to this file, for tests without the validator"
    )
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
        text, places = write(schema), finest(schema)
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
                differ("wrong mask", number, schema, why)
            elif out is None:
                count["walks cut"] += 1
            else:
                try:
                    value = read(out.decode())
                except ValueError as e:
                    differ("not JSON", number, schema, f"{out!r} {e}")
                    continue
                if left_out(text, places, value):
                    count["walks that only decimals decide"] += 1
                    continue
                if not check.is_valid(value):
                    differ("wrote what is invalid", number, schema, out.decode())
                elif not EXPONENT.search(out):
                    made += [value, mutant(rng, value)]
        accepted, refused = [], []
        for value in made:
            value = plain(value)
            if left_out(text, places, value):
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
