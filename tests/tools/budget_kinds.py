"""Random walks under token budgets over sources of every kind: each output complete, in time and valid.

    python tests/tools/budget_kinds.py SCHEMAS [--grammars FILE] --walks 20000 --seconds 3000

Each source is compiled for the first 1,000, 8,000, 32,000 or all tokens of the vocabulary of
examples/real_vocabulary.py. Each walk has a budget from the fewest tokens that complete the output up to 60, and a
sampler of its own: it takes any allowed token, or no stop token before it must, or short tokens, or those after which
the most is missing. Some walks go back on the way. An output is judged by a guide without a budget, over single bytes
where the grammar neither names tokens by their ids nor counts them, and by what knows nothing of interlock:

* ``schema``: a schema of SCHEMAS, a folder of JSON files with a member ``schema``; jsonschema-rs.
* ``pattern``: a pattern of these schemas or of tests/data/regex; ``re.fullmatch``.
* ``grammar``: a grammar of `interlock.grammars`, or a line of FILE (members ``grammar``, ``dialect`` and ``start``);
  ``ast.parse`` and ``json.loads`` where the language is theirs.
* ``tools``: one to three tools out of these schemas in a random format; jsonschema-rs for the arguments of each call.

Prints how far it came every ten seconds, what failed, and counts by kind. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs

import interlock
from interlock import events, grammars, tools

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

SIZES = [1_000, 8_000, 32_000, 0]
SHARES = {"schema": 8, "pattern": 5, "grammar": 4, "tools": 3}
MOST = 60
# No walk is longer, whatever the output needs.
LONGEST = 400
# Seconds to compile a source.
PATIENCE = 20
# Ends the name of a grammar that names tokens by their ids or counts them.
NAMED = ", names tokens"
NAMES_TOKENS = r"<\[|\bmax_tokens\b"
DIALECTS = {"lark": "lark", "lark-llg": "lark", "gbnf": "gbnf", "ebnf": "ebnf", "ebnf-xgr": "ebnf"}

Compile = Callable[[interlock.Vocabulary], interlock.Index]
Judge = Callable[[bytes, interlock.Index], bool]


def patterns_of(schema: Any) -> set[str]:
    """All values of ``pattern`` in a schema."""
    if isinstance(schema, list):
        return set().union(*map(patterns_of, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    own = {schema["pattern"]} if isinstance(schema.get("pattern"), str) else set()
    return own.union(*map(patterns_of, schema.values()))


def of_schema(sources: Sources, rng: random.Random) -> tuple[str, Compile, Judge]:
    name, schema = rng.choice(sources.schemas)
    order, spaces = rng.choice(["any", "schema"]), rng.choice(["flexible", "compact", "spaced"])
    judge = jsonschema_rs.validator_for(schema, validate_formats=False)

    def compiled(vocabulary: interlock.Vocabulary) -> interlock.Index:
        cancel = interlock.CancelToken.after(PATIENCE)
        return interlock.Index.from_json_schema(
            schema, vocabulary, property_order=order, whitespace=spaces, formats="annotate", cancel=cancel
        )

    return f"{name}, {order}, {spaces}", compiled, lambda text, _: judge.is_valid(json.loads(text))


def of_pattern(sources: Sources, rng: random.Random) -> tuple[str, Compile, Judge]:
    pattern, flags = rng.choice(sources.patterns)
    expected = re.compile(pattern, sum(getattr(re, letter.upper()) for letter in flags))

    def compiled(vocabulary: interlock.Vocabulary) -> interlock.Index:
        cancel = interlock.CancelToken.after(PATIENCE)
        return interlock.Index.from_regex(pattern, vocabulary, flags=flags, cancel=cancel)

    return f"{pattern!r} {flags}", compiled, lambda text, _: expected.fullmatch(text.decode()) is not None


def of_grammar(sources: Sources, rng: random.Random) -> tuple[str, Compile, Judge]:
    name, text, options = rng.choice(sources.grammars if rng.random() < 0.5 and sources.grammars else sources.own)

    def compiled(vocabulary: interlock.Vocabulary) -> interlock.Index:
        return interlock.Index.from_grammar(text, vocabulary, cancel=interlock.CancelToken.after(PATIENCE), **options)

    def right(output: bytes, _: interlock.Index) -> bool:
        if name == "json":
            json.loads(output)
        elif name in ("python", "arithmetic"):
            ast.parse(output.decode().strip() if name == "arithmetic" else output.decode())
        return True

    return f"{name} {options}{NAMED if re.search(NAMES_TOKENS, text) else ''}", compiled, right


def of_tools(sources: Sources, rng: random.Random) -> tuple[str, Compile, Judge]:
    chosen = dict(rng.sample(sources.tools, rng.randint(1, 3)))
    given = [{"name": name, "parameters": schema} for name, schema in chosen.items()]
    options: dict[str, Any] = {
        "format": rng.choice(tools.format_names()),
        "tool_choice": rng.choice(["required", "required", "auto", {"name": given[0]["name"]}]),
        "parallel": rng.random() < 0.3,
        "strict": True,
        "closed": rng.random() < 0.5,
    }

    def compiled(vocabulary: interlock.Vocabulary) -> interlock.Index:
        cancel = interlock.CancelToken.after(PATIENCE)
        return interlock.Index.from_tools(given, vocabulary, cancel=cancel, unknown_keywords="ignore", **options)

    def right(output: bytes, over_bytes: interlock.Index) -> bool:
        ended = [event.call for event in over_bytes.parse(output) if isinstance(event, events.CallEnded)]
        judges = {name: jsonschema_rs.validator_for(schema, validate_formats=False) for name, schema in chosen.items()}
        enough = bool(ended) or options["tool_choice"] == "auto"
        return enough and all(judges[call.name].is_valid(call.arguments) for call in ended)

    return f"{list(chosen)} {options}", compiled, right


KINDS = {"schema": of_schema, "pattern": of_pattern, "grammar": of_grammar, "tools": of_tools}


class Sources:
    """What is walked."""

    def __init__(self, folder: Path, file: Path | None) -> None:
        self.schemas = [(f.stem, json.loads(f.read_text())["schema"]) for f in sorted(folder.glob("*.json"))]
        found = sorted(set().union(*(patterns_of(schema) for _, schema in self.schemas)))
        regex = json.loads((ROOT / "tests/data/regex/python.json").read_text())
        self.patterns = [(pattern, "") for pattern in found] + [(case[0], case[1]) for case in regex]
        self.tools = []
        for name, schema in self.schemas:
            if isinstance(schema, dict) and schema.get("type") == "object" and schema.get("properties"):
                self.tools.append((re.sub(r"\W+", "_", name)[:40], schema))
        people = {"student": ["name", "age"], "course": ["title", "room", "hours"]}
        texts = [(name, grammars.load(name)) for name in grammars.names()]
        texts += [
            ("csv of 3", grammars.load("csv", columns=3)),
            ("csv of a, b", grammars.load("csv", columns=["a", "b"])),
        ]
        texts += [("sql of tables", grammars.sql(people)), ("sql to depth 2", grammars.sql(people, max_depth=2))]
        texts += [("xml of notes", grammars.load("xml", elements={"note": ["to", "from"], "b": []}))]
        self.own: list[tuple[str, str, dict[str, Any]]] = [(name, text, {"lexer": text.lexer}) for name, text in texts]
        self.grammars = []
        for line in file.open(encoding="utf-8") if file else []:
            case = json.loads(line)
            options = {"syntax": DIALECTS[case["dialect"]], "start": case["start"]}
            self.grammars += [] if case.get("invalid") else [(case["name"], case["grammar"], options)]


class Walks:
    """Vocabularies, and what was counted."""

    def __init__(self) -> None:
        from real_vocabulary import load

        whole = load()
        cut = [[whole.token_bytes(i) for i in range(size)] for size in SIZES if size]
        self.vocabularies = [interlock.Vocabulary([*tokens, b""], eos_token_ids=[len(tokens)]) for tokens in cut]
        self.vocabularies.append(whole)
        self.single = interlock.Vocabulary([*(bytes([b]) for b in range(256)), b""], eos_token_ids=[256])
        self.counts: Counter[str] = Counter()
        self.failures = 0

    def next(self, guide: interlock.Guide, way: str, rng: random.Random, ends: set[int]) -> int:
        allowed = guide.allowed_token_ids()
        assert len(allowed), "no token is allowed"
        if way == "any":
            return int(rng.choice(allowed))
        picked = rng.sample(range(len(allowed)), min(4 + len(ends), len(allowed)))
        some = [token for token in allowed[picked].tolist() if token not in ends][:4]
        if not some:
            return int(allowed[0])
        if way == "short":
            return min(some, key=lambda token: len(guide.index.vocabulary.token_bytes(token)))
        if way == "most missing":
            missing = {}
            for token in some:
                assert guide.try_advance(token), f"token {token} is in the mask and refused"
                missing[token] = guide.min_tokens_to_finish()
                guide.rollback(1)
            return max(some, key=lambda token: missing[token])
        return some[0]

    def walk(self, kind: str, index: interlock.Index, plain: interlock.Index, judge: Judge, rng: random.Random) -> None:
        least = index.guide().min_tokens_to_finish()
        budget = rng.choice([least, rng.randint(least, max(least, MOST)), rng.randint(least, max(least, MOST))])
        try:
            guide = index.guide(max_tokens=budget)
        except interlock.BudgetError as error:
            assert error.value is None or error.value > budget, (error.value, budget)
            self.counts[f"{kind}: the fewest tokens known are more than the fewest"] += 1
            budget = error.value or LONGEST
            if budget > LONGEST:
                return
            guide = index.guide(max_tokens=budget)
        way = rng.choice(["any", "any", "no stop", "short", "most missing"])
        ends = set(index.vocabulary.eos_token_ids)
        back = 3
        while guide.num_tokens <= budget:
            token = self.next(guide, way, rng, ends)
            if token in ends:
                break
            guide.advance(token)
            if back and rng.random() < 0.05:
                back -= 1
                guide.rollback(rng.randint(1, guide.num_tokens))
        text = index.vocabulary.decode(guide.tokens)
        told = f"budget {budget} (least {least}), {way}, {guide.num_tokens} tokens, {text!r}"
        assert guide.is_accepting and guide.num_tokens <= budget, f"INCOMPLETE: {told}"
        beside = plain.guide()
        assert beside.advance_many(list(text)) == len(text) and beside.is_accepting, f"INVALID without budget: {told}"
        try:
            right = judge(text, plain)
        except (OverflowError, ValueError) as error:
            # The judge's own limits: numbers beyond its own, or text that it cannot read.
            if isinstance(error, (json.JSONDecodeError, SyntaxError, UnicodeDecodeError)):
                raise AssertionError(f"INVALID, {error}: {told}") from error
            self.counts[f"{kind}: the judge gave up, {type(error).__name__}"] += 1
            return
        except SyntaxError as error:
            raise AssertionError(f"INVALID, {error}: {told}") from error
        if not right and any(unicodedata.category(letter) == "Cn" for letter in text.decode()):
            self.counts[f"{kind}: the judge's Unicode is older"] += 1
            return
        assert right, f"INVALID: {told}"
        self.counts[f"{kind}: complete, in time and valid"] += 1

    def source(self, kind: str, sources: Sources, rng: random.Random) -> int:
        """Some walks over one source; how many they were."""
        vocabulary, name = rng.choice(self.vocabularies), ""
        try:
            name, compiled, judge = KINDS[kind](sources, rng)
            index = compiled(vocabulary)
            # The ids of a grammar are other tokens in a vocabulary of bytes.
            plain = index if name.endswith(NAMED) else compiled(self.single)
            least = index.guide().min_tokens_to_finish()
        except (interlock.InterlockError, ValueError, OverflowError, re.error) as error:
            self.counts[f"{kind}: not walked, {type(error).__name__}"] += 1
            return 0
        if least > LONGEST:
            self.counts[f"{kind}: not walked, needs more than {LONGEST} tokens"] += 1
            return 0
        done = 0
        for _ in range(8 if kind == "grammar" else 4):
            seed = rng.getrandbits(64)
            done += 1
            try:
                self.walk(kind, index, plain, judge, random.Random(seed))
            except Exception as error:
                self.failures += 1
                found = f"{type(error).__name__}: {str(error)[:600]}"
                print(f"FAILED {kind} {name}, {vocabulary.size} tokens, {seed}: {found}", flush=True)
        return done


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("schemas", type=Path)
    parser.add_argument("--grammars", type=Path)
    parser.add_argument("--walks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time, whatever is left")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    sources, walks, rng = Sources(chosen.schemas, chosen.grammars), Walks(), random.Random(chosen.seed)
    done = {kind: 0 for kind in SHARES}
    start = told = time.monotonic()
    while sum(done.values()) < chosen.walks and time.monotonic() - start < chosen.seconds:
        # The kind that has the fewest of its share.
        kind = min(SHARES, key=lambda kind: done[kind] / SHARES[kind])
        done[kind] += walks.source(kind, sources, rng)
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"{sum(done.values())} walks, {told - start:.0f} s, {walks.failures} failed", flush=True)
    print(f"{sum(done.values())} of {chosen.walks} walks in {time.monotonic() - start:.0f} s, {walks.failures} failed")
    for what, count in sorted(walks.counts.items()):
        print(f"  {count:6} {what}")
    sys.exit(walks.failures > 0)


if __name__ == "__main__":
    main()
