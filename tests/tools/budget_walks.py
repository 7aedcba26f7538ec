"""Random walks under token budgets over real schemas: every output complete, in time and valid.

The sampler always prolongs: of some allowed tokens it takes the one after which the most is still missing, and a stop
token only where nothing else is left. Every allowed token that it looks at must be taken by ``try_advance``. Each
walk has a random schema, a random order of keys, flexible whitespace, and a budget from the fewest tokens on; one fewer
must be a ``BudgetError`` that names that number. Outputs are judged by jsonschema-rs.

    python tests/tools/budget_walks.py SCHEMAS --walks 5000 --seconds 600

``SCHEMAS`` is a folder of files of one JSON object with a member ``schema``, or one file of such objects, one a line.
The vocabulary is that of examples/real_vocabulary.py, or its first ``--tokens`` tokens. How far it came is printed
every ten seconds; after ``--seconds`` the walks end, as they do when all are done, with a summary.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

import jsonschema_rs

import interlock

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))


def prolonging(guide: interlock.Guide, rng: random.Random, end: set[int], tries: int) -> int | None:
    """Of a few allowed tokens the one after which the most is missing."""
    allowed = guide.allowed_token_ids()
    picked = rng.sample(range(len(allowed)), min(tries + len(end), len(allowed)))
    best: tuple[int, int] | None = None
    for token in [t for t in allowed[picked].tolist() if t not in end][:tries]:
        if not guide.try_advance(token):
            raise AssertionError(f"token {token} is in the mask and refused")
        missing = guide.min_tokens_to_finish()
        guide.rollback(1)
        if best is None or missing > best[0]:
            best = (missing, token)
    return None if best is None else best[1]


def walk(index: interlock.Index, schema: object, rng: random.Random, tries: int, counts: Counter[str]) -> None:
    needed = index.guide().min_tokens_to_finish()
    if needed > 1500:
        counts["needs more than 1,500 tokens"] += 1
        return
    if needed > 0:
        try:
            index.guide(max_tokens=needed - 1)
        except interlock.BudgetError as error:
            assert error.value == needed, (error.value, needed)
        else:
            raise AssertionError("a budget that is too small was taken")
    budget = needed + rng.choice([0, 0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
    guide = index.guide(max_tokens=budget)
    end = set(index.vocabulary.eos_token_ids)
    for _ in range(budget):
        token = prolonging(guide, rng, end, tries)
        if token is None:
            break
        guide.advance(token)
    text = index.vocabulary.decode(guide.tokens)
    assert guide.num_tokens <= budget
    assert guide.is_accepting, (needed, budget, text)
    # Bytes beyond UTF-8 cannot occur: the output is complete.
    judge = jsonschema_rs.validator_for(schema, validate_formats=False)
    try:
        valid = judge.is_valid(json.loads(text))
    except (ValueError, OverflowError) as error:
        counts[f"judge: {type(error).__name__}"] += 1
        return
    assert valid, text
    counts["complete, in time and valid"] += 1


def sources(path: Path) -> list[tuple[str, object]]:
    """Names and schemas."""
    if path.is_dir():
        return [(f.name, json.loads(f.read_text())["schema"]) for f in sorted(path.glob("*.json"))]
    lines = [json.loads(line) for line in path.read_text().splitlines() if line]
    return [(str(line.get("name", at)), line["schema"]) for at, line in enumerate(lines)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("schemas", type=Path)
    parser.add_argument("--walks", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time, whatever is left")
    parser.add_argument("--tries", type=int, default=4, help="tokens that the sampler looks at")
    parser.add_argument("--tokens", type=int, default=0, help="size of the vocabulary (default: all of it)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slow", type=float, default=float("inf"), help="name walks that take as many seconds")
    chosen = parser.parse_args()
    from real_vocabulary import load

    vocabulary = load()
    if chosen.tokens:
        tokens = [vocabulary.token_bytes(i) for i in range(chosen.tokens)]
        vocabulary = interlock.Vocabulary([*tokens, b""], eos_token_ids=[chosen.tokens])
    given = sources(chosen.schemas)
    rng = random.Random(chosen.seed)
    counts: Counter[str] = Counter()
    failures = done = 0
    start = told = time.monotonic()
    while done < chosen.walks and time.monotonic() - start < chosen.seconds:
        (name, schema), order = rng.choice(given), rng.choice(["any", "schema"])
        state, began = rng.getrandbits(64), time.monotonic()
        try:
            index = interlock.Index.from_json_schema(
                schema, vocabulary, property_order=order, whitespace="flexible", formats="annotate"
            )
            jsonschema_rs.validator_for(schema)
        except (ValueError, OverflowError) as error:
            counts[f"not walked: {type(error).__name__}"] += 1
            continue
        done += 1
        try:
            walk(index, schema, random.Random(state), chosen.tries, counts)
        except interlock.UnsupportedError:
            counts["no short output known"] += 1
        except AssertionError as error:
            failures += 1
            print(f"FAILED {name} {order} {state}: {str(error)[:300]}", flush=True)
        now = time.monotonic()
        if now - began > chosen.slow:
            print(f"{now - began:.1f} s: {name} {order} {state}", flush=True)
        if now - told > 10:
            told = now
            print(f"{done} walks, {now - start:.0f} s, {failures} failed, {dict(counts)}", flush=True)
    print(f"{done} of {chosen.walks} walks in {time.monotonic() - start:.0f} s, {failures} failed")
    for what, count in counts.most_common():
        print(f"  {count:6} {what}")
    sys.exit(failures > 0 or done < chosen.walks)


if __name__ == "__main__":
    main()
