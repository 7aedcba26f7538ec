"""Random walks under token budgets over real schemas: every output complete, in time and valid.

The sampler always prolongs: of some allowed tokens it takes the one after which the most is still missing, and a stop
token only where nothing else is left. Every allowed token that it looks at must be taken by ``try_advance``. Each
walk has a random schema, a random order of keys, flexible whitespace, and a budget from the fewest tokens on; one fewer
must be a ``BudgetError`` that names that number. Outputs are judged by jsonschema-rs.

    python tests/tools/budget_walks.py FOLDER --walks 5000

``FOLDER`` holds files of one JSON object with a member ``schema``. The vocabulary is that of
examples/real_vocabulary.py, or its first ``--tokens`` tokens, which are quicker to price.
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
    allowed = [t for t in guide.allowed_token_ids().tolist() if t not in end]
    best: tuple[int, int] | None = None
    for token in rng.sample(allowed, min(tries, len(allowed))):
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
            raise AssertionError("a budget that is too small was taken")
        except interlock.BudgetError as error:
            assert error.value == needed, (error.value, needed)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--walks", type=int, default=5000)
    parser.add_argument("--tries", type=int, default=4, help="tokens that the sampler looks at")
    parser.add_argument("--tokens", type=int, default=0, help="size of the vocabulary (default: all of it)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    from real_vocabulary import load

    vocabulary = load()
    if chosen.tokens:
        tokens = [vocabulary.token_bytes(i) for i in range(chosen.tokens)]
        vocabulary = interlock.Vocabulary([*tokens, b""], eos_token_ids=[chosen.tokens])
    files = sorted(chosen.folder.glob("*.json"))
    rng = random.Random(chosen.seed)
    counts: Counter[str] = Counter()
    failures, start = 0, time.monotonic()
    for i in range(chosen.walks):
        file, order = rng.choice(files), rng.choice(["any", "schema"])
        schema = json.loads(file.read_text())["schema"]
        state = rng.getrandbits(64)
        try:
            index = interlock.Index.from_json_schema(
                schema, vocabulary, property_order=order, whitespace="flexible", formats="annotate"
            )
            jsonschema_rs.validator_for(schema)
        except (ValueError, OverflowError) as error:
            counts[f"not walked: {type(error).__name__}"] += 1
            continue
        try:
            walk(index, schema, random.Random(state), chosen.tries, counts)
        except interlock.UnsupportedError:
            counts["no short output known"] += 1
        except AssertionError as error:
            failures += 1
            print(f"FAILED {file.name} {order} {state}: {str(error)[:300]}", flush=True)
        if i % 50 == 49:
            print(f"{i + 1} walks, {time.monotonic() - start:.0f} s, {failures} failed, {dict(counts)}", flush=True)
    print(f"{chosen.walks} walks, {failures} failed")
    for what, count in counts.most_common():
        print(f"  {count:6} {what}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
