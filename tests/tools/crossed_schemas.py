"""Real schemas put together in ways that nobody wrote, against jsonschema-rs, in both directions.

    python tests/tools/crossed_schemas.py FOLDER [--cases 1000] [--seed 1] [--largest 6000] [--show 20] [--only CASE]

FOLDER has schemas as MaskBench has them: files of an object with `schema` and, in `tests`, documents (`data`). Each
case takes two of them of one draft and joins them by a keyword: alternatives, conditions, negation, members, elements.
Each half keeps an identifier of its own, so its references stay inside it. Documents are those of both files, put
together as the keyword asks, what random walks under the masks wrote, and all of these changed at one place.

In any order of keys interlock must accept a document exactly if the validator calls it valid; in declared order it
must not accept an invalid one. Every walk must end in a valid document. Where the two read a draft differently, what
docs/json-schema.md says decides, and the place is left out here: formats that the validator does not know in a draft,
numbers of more digits than are written, and what `rival_schemas.py` leaves out. Prints every difference and each
source that takes a second, counts at the end; exits with 1 if there is a difference. Needs jsonschema-rs and an
installed interlock; deterministic for a seed.
"""

import argparse
import collections
import random
import re
import sys
import time
from functools import partial
from pathlib import Path

import interlock
import jsonschema_rs
from rival_schemas import EXPONENT, finest, left_out, mutant, plain, read, vocabulary, walk
from random_schemas import write

DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# A second of one source is worth a look: of schemas of this size none should take it.
SLOW = 1.0
# Formats that the validator knows in the oldest of these drafts, and those that it knows in the last ones only.
FIRST_FORMATS = {"date-time", "email", "hostname", "ipv4", "ipv6", "uri"}
LAST_FORMATS = {"uuid", "duration"}
# More digits than a number without bounds has before its point.
LONG = re.compile(rb"\d{81}")


def is_known(name, draft):
    """Whether the validator knows a format in a draft."""
    return name in FIRST_FORMATS if draft == "draft-04" else draft != "draft-07" or name not in LAST_FORMATS


def without(value, draft):
    """The schema without what names its draft, and without formats that the validator does not know in it."""
    if isinstance(value, list):
        return [without(v, draft) for v in value]
    if not isinstance(value, dict):
        return value
    dropped = lambda k, v: isinstance(v, str) and (k == "$schema" or k == "format" and not is_known(v, draft))
    return {k: without(v, draft) for k, v in value.items() if not dropped(k, v)}


def load(folder, largest):
    """By draft: schemas that can stand inside others, with their documents."""
    halves = collections.defaultdict(list)
    for path in sorted(Path(folder).glob("*.json")):
        case = read(path.read_text())
        schema = case.get("schema")
        text = write(schema)
        # Those that name themselves, or are nothing but a reference, mean something else inside.
        named = '"$id"' in text or '"id":"http' in text
        if not isinstance(schema, dict) or len(text) > largest or named:
            continue
        said = str(schema.get("$schema", ""))
        draft = next((name for name in DRAFTS if name in said), "2020-12")
        if "$ref" in schema and draft in ("draft-04", "draft-07"):
            continue
        documents = [test["data"] for test in case.get("tests", [])]
        halves[draft].append((path.stem, without(schema, draft), documents))
    return halves


def several(rng, documents, most=4):
    """Lists of documents."""
    return [[rng.choice(documents) for _ in range(rng.randrange(most))] for _ in range(8)] if documents else [[]]


def members(rng, *values):
    """Objects with a member of each of the lists."""
    made = [{k: rng.choice(v) for k, v in zip("xyz", values, strict=False) if v} for _ in range(8)]
    return made + [{k: v for k, v in d.items() if rng.random() < 0.7} for d in made]


def crossed(rng, draft, a, b, da, db):
    """Two schemas in one, the name of the way, and documents for it."""
    both = da + db
    ways = {
        "anyOf": lambda: ({"anyOf": [a, b]}, both),
        "oneOf": lambda: ({"oneOf": [a, b]}, both),
        "allOf": lambda: ({"allOf": [a, b]}, both),
        "not": lambda: ({"allOf": [a, {"not": b}]}, both),
        "members": lambda: (
            {"type": "object", "properties": {"x": a, "y": b}, "required": ["x"]},
            members(rng, da, db),
        ),
        "others": lambda: ({"properties": {"x": a}, "additionalProperties": b}, members(rng, da, db, db)),
        "alternatives": lambda: (
            {"oneOf": [{"required": ["x"], "properties": {"x": s}} for s in (a, b)]},
            members(rng, both),
        ),
        "elements": lambda: ({"type": "array", "items": {"anyOf": [a, b]}, "maxItems": 4}, several(rng, both)),
        "unique": lambda: (
            {"type": "array", "uniqueItems": True, "items": {"anyOf": [a, b]}, "maxItems": 3},
            several(rng, both),
        ),
    }
    if draft != "draft-04":
        ways["contains"] = lambda: (
            {"type": "array", "contains": a, "items": {"anyOf": [a, b]}, "maxItems": 4},
            several(rng, both),
        )
        ways["condition"] = lambda: ({"if": a, rng.choice(["then", "else"]): b}, both)
    if draft not in ("draft-04", "draft-07"):
        keys = [k for d in both if isinstance(d, dict) for k in d]
        ways["dependent"] = lambda: ({"allOf": [a], "dependentSchemas": {rng.choice(keys or ["x"]): b}}, both)
        ways["unevaluated"] = lambda: ({"anyOf": [a, b], "unevaluatedProperties": False}, both)
    way = rng.choice(list(ways))
    schema, documents = ways[way]()
    return {"$schema": DRAFTS[draft]} | schema, way, documents


def choose(rng, halves):
    """Two of a draft, in half of all cases with a member in common."""
    drafts = [draft for draft in halves if len(halves[draft]) > 1]
    draft = rng.choices(drafts, [len(halves[d]) ** 0.5 for d in drafts])[0]
    of_draft = halves[draft]
    names = lambda half: set(half[1]["properties"]) if isinstance(half[1].get("properties"), dict) else set()
    first, second = rng.choice(of_draft), rng.choice(of_draft)
    if rng.random() < 0.5:
        near = [half for half in rng.sample(of_draft, min(200, len(of_draft))) if names(half) & names(first)]
        second = rng.choice(near or [second])
    return draft, first, second


def walked(rng, skips, check, indexes, tokens, count):
    """What differs in documents written under the masks, and these documents with mutants of them."""
    differences, documents = [], []
    for index in indexes:
        for _ in range(2):
            out, why = walk(rng, index.guide(), tokens)
            count["walks" if out else "walks cut"] += 1
            if why:
                differences.append(("wrong mask", why))
            if out is None:
                continue
            try:
                value = read(out.decode())
            except ValueError as e:
                differences.append(("not JSON", f"{out!r} {e}"))
                continue
            if not skips(value) and not check.is_valid(value):
                differences.append(("wrote what is invalid", out.decode()))
            elif not EXPONENT.search(out):
                documents += [value, mutant(rng, value)]
    return differences, documents


def judged(rng, skips, check, indexes, documents, count):
    """The first difference between the verdicts on documents, if there is one."""
    for value in map(plain, documents):
        line = write(value, rng).encode()
        if skips(value) or EXPONENT.search(line) or LONG.search(line):
            continue
        valid = check.is_valid(value)
        count["valid" if valid else "invalid"] += 1
        guides = [index.guide() for index in indexes]
        any_order, declared = (g.advance_many(line) == len(line) and g.is_accepting for g in guides)
        if any_order != valid:
            return [("accepts what is invalid" if any_order else "refuses what is valid", line.decode())]
        if declared and not valid:
            return [("accepts what is invalid in declared order", line.decode())]
    return []


def differences(rng, schema, documents, v, tokens, count):
    """What differs in one case."""
    text = write(schema)
    skips = partial(left_out, text, finest(schema))
    try:
        check = jsonschema_rs.validator_for(read(text), validate_formats=True)
    except Exception as e:
        count[f"validator refuses: {type(e).__name__}"] += 1
        return []
    documents = documents[:10] + [mutant(rng, d) for d in documents[:10] for _ in range(4)]
    try:
        indexes = [interlock.Index.from_json_schema(text, v, property_order=order) for order in ("any", "schema")]
    except interlock.UnsatisfiableError:
        count["unsatisfiable"] += 1
        valid = (d for d in documents if not skips(d) and check.is_valid(plain(d)))
        return [("called unsatisfiable", write(d)) for d in valid][:1]
    except interlock.InterlockError as e:
        count[f"refused: {type(e).__name__}"] += 1
        malformed = isinstance(e, (interlock.SchemaError, interlock.InternalError))
        return [("refused as malformed", str(e))] if malformed else []
    count["schemas"] += 1
    found, more = walked(rng, skips, check, indexes, tokens, count)
    return found + judged(rng, skips, check, indexes, documents + more, count)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--cases", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--largest", type=int, default=6000, help="characters of a schema")
    p.add_argument("--only", type=int)
    p.add_argument("--show", type=int, default=20)
    a = p.parse_args()
    v, tokens = vocabulary()
    halves = load(a.folder, a.largest)
    count, shown = collections.Counter(), 0
    for number in range(a.cases) if a.only is None else [a.only]:
        rng = random.Random(f"{a.seed}/{number}")
        draft, first, second = choose(rng, halves)
        own = "id" if draft == "draft-04" else "$id"
        parts = [half[1] | {own: f"http://example.com/{n}"} for half, n in ((first, 1), (second, 2))]
        schema, way, documents = crossed(rng, draft, *parts, first[2], second[2])
        where = f"case {number}, {way} of {first[0]} and {second[0]}, {draft}"
        began = time.process_time()
        for what, more in differences(rng, schema, documents, v, tokens, count):
            count["DIFFERENCE " + what] += 1
            shown += 1
            if shown <= a.show:
                print(f"{where}: {what}\n  {write(schema)[:2000]}\n  {more[:1000]}", flush=True)
        took = time.process_time() - began
        if took > SLOW:
            count["slow"] += 1
            print(f"{where}: {took:.1f} s", flush=True)
    print(dict(count))
    return any(k.startswith("DIFFERENCE") for k in count)


if __name__ == "__main__":
    sys.exit(main())
