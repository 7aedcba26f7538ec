"""Guides through all that changes where they are, beside a guide of the same schema over single bytes.

    python tests/tools/crossed_guides.py FOLDER [--cases 200] [--seed 1]

FOLDER holds MaskBench's files. Each case is a schema, of that folder, of `random_schemas` or of `remembered`, compiled
with random options for a small vocabulary: every byte, and tokens of two bytes and more cut out of members of the
schema. The index stays lazy, is built, or is saved and loaded, with tables or without. A guide then takes random
tokens, goes back, forks, is pickled, looks at drafts, refuses what it must. At every step this has to hold:

* A token is allowed where the guide over bytes takes all its bytes, a stop token where that one accepts.
* `forced_bytes` are those that it has no choice about. Equal states allow the same tokens.
* `validate`, `advance_many` and `fill_draft_bitmasks` say what single steps say.
* A budget of `min_tokens_to_finish` is enough, whatever is taken. (Where an index has no complete tables, a budget may
  refuse a beginning whose rest it takes for longer than it is; how often is counted.)

Prints what differs, and counts at the end; exits with 1 if anything does. Deterministic for a seed.
"""

import argparse
import collections
import json
import pickle
import random
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
import random_schemas
import remembered

import interlock

EOS = 256
EVERY_BYTE = [bytes([byte]) for byte in range(256)]
# fmt: off
JSON_WORDS = [
    b'{"', b'":', b'", "', b'"}', b'": "', b"[[", b"]]", b", ", b'":"', b'","', b"}}", b"}]", b"[{", b'""', b'": ',
    b"{}", b"[]", b"true", b"false", b"null", b"\\u00", b'\\"', b"  ", b"\n", b"e1", b".0", b"10", b"-1", b"12",
]
# fmt: on
MODES = ["lazy", "built on one thread", "built on two threads", "saved", "saved with tables"]
STEPS = 50
# Bytes of `forced_bytes` that are compared.
FORCED = 200


class Differs(Exception):
    """Two ways to one answer gave two answers."""


class Case:
    """A schema, its index over bytes and over words, and what was counted."""

    def __init__(self, rng: random.Random, files: list[Path], count: collections.Counter):
        self.rng, self.count = rng, count
        kind = rng.choice(["random", "random", "remembered", "bench"])
        if kind == "random":
            schema = random_schemas.Schemas(rng, rng.choice(list(random_schemas.DRAFTS))).root()
            self.text = random_schemas.write(schema)
        elif kind == "remembered":
            self.text = json.dumps(remembered.case(rng)[0], ensure_ascii=False)
        else:
            self.text = json.dumps(json.loads(rng.choice(files).read_text())["schema"], ensure_ascii=False)
        self.options = {
            "property_order": rng.choice(["any", "schema"]),
            "whitespace": rng.choice(["flexible", "compact", "spaced"]),
            "spelling": rng.choice([None, "any", "plain"]),
        }
        single = interlock.Vocabulary([*EVERY_BYTE, b""], eos_token_ids=[EOS])
        self.over_bytes = interlock.Index.from_json_schema(self.text, single, **self.options)
        self.tokens = [*EVERY_BYTE, b"", *self.words()]
        self.real = [id for id, token in enumerate(self.tokens) if token]
        self.vocabulary = interlock.Vocabulary(self.tokens, eos_token_ids=[EOS])
        self.mode = rng.choice(MODES)
        self.index = self.compiled()
        count[kind] += 1
        count[self.mode] += 1

    def words(self) -> list[bytes]:
        words = set(JSON_WORDS)
        for _ in range(4):
            try:
                member = self.over_bytes.random_member(seed=self.rng.randrange(1000), max_bytes=120)
            except interlock.InterlockError:
                continue
            for _ in range(15):
                at = self.rng.randrange(len(member))
                words.add(member[at : at + self.rng.randint(2, 6)])
        words = sorted(word for word in words if len(word) > 1)
        self.rng.shuffle(words)
        # Some ids have the same bytes.
        return words + self.rng.choices(words, k=5)

    def compiled(self) -> interlock.Index:
        index = interlock.Index.from_json_schema(self.text, self.vocabulary, **self.options)
        try:
            if "built" in self.mode or "tables" in self.mode:
                index.build(threads=2 if "two" in self.mode else 1)
        except interlock.InterlockError as error:
            self.count[f"not built: {type(error).__name__}"] += 1
            self.mode = "lazy"
        if "saved" not in self.mode:
            return index
        with tempfile.TemporaryDirectory() as folder:
            index.save(f"{folder}/index", tables="tables" in self.mode)
            return interlock.Index.load(f"{folder}/index", self.vocabulary)

    def bytes_of(self, ids: list[int]) -> bytes:
        return b"".join(self.tokens[id] for id in ids)


class Walk:
    """One guide, and the guide over bytes beside it."""

    def __init__(self, case: Case):
        self.case, self.rng = case, case.rng
        self.guide, self.beside = case.index.guide(), case.over_bytes.guide()
        self.masks: dict[bytes, bytes] = {}

    def differs(self, what: str) -> Differs:
        case = self.case
        taken = f"{self.guide.tokens} {case.bytes_of(self.guide.tokens)!r}"
        return Differs(f"{what}, {case.mode}, {case.options}, after {taken} of {case.text[:2000]}")

    def mask_of(self, guide: interlock.Guide) -> np.ndarray:
        bits = interlock.allocate_bitmask(1, self.case.vocabulary)
        bits.fill(self.rng.randrange(-(2**31), 2**31))
        guide.fill_bitmask(bits)
        return bits[0]

    def expected(self) -> np.ndarray:
        allowed = np.zeros(len(self.case.tokens), bool)
        for id in self.case.real:
            spelled = self.case.tokens[id]
            allowed[id] = self.beside.validate(spelled) == len(spelled)
        allowed[EOS] = self.beside.is_accepting
        return allowed

    def look(self) -> list[int]:
        """Everything that is known here. Returns the tokens that are allowed, but for the stop token."""
        guide, beside = self.guide, self.beside
        expected = self.expected()
        bits = np.unpackbits(self.mask_of(guide).view(np.uint8), bitorder="little")[: len(expected)].astype(bool)
        self.case.count["masks"] += 1
        if not np.array_equal(bits, expected):
            wrong = [self.case.tokens[id] for id in np.flatnonzero(bits != expected)[:9]]
            raise self.differs(f"the mask of {wrong}")
        if (guide.is_accepting, guide.must_stop) != (beside.is_accepting, beside.must_stop):
            raise self.differs("where it may stop")
        if self.masks.setdefault(guide.state, expected.tobytes()) != expected.tobytes():
            raise self.differs("equal states, other masks")
        forced = bytearray()
        while len(forced) < FORCED and not beside.is_accepting and len(only := beside.allowed_token_ids()) == 1:
            beside.advance(only[0])
            forced += EVERY_BYTE[only[0]]
        beside.rollback(len(forced))
        if guide.forced_bytes()[:FORCED] != forced:
            raise self.differs(f"forced are {bytes(forced)!r}, not {guide.forced_bytes()!r}")
        if not np.array_equal(guide.allowed_token_ids(), np.flatnonzero(expected)):
            raise self.differs("the ids that are allowed")
        return [int(id) for id in np.flatnonzero(expected) if id != EOS]

    def refuse(self, allowed: list[int]) -> None:
        for id in set(self.rng.sample(self.case.real, 20)) - set(allowed):
            if self.guide.try_advance(id):
                raise self.differs(f"{self.case.tokens[id]!r} is taken")

    def go_back(self, tokens: int) -> None:
        left_out = self.guide.tokens[len(self.guide.tokens) - tokens :]
        self.guide.rollback(tokens)
        self.beside.rollback(len(self.case.bytes_of(left_out)))

    def draft(self) -> None:
        drafts, ahead = [], self.guide.fork()
        for _ in range(5):
            allowed = [id for id in ahead.allowed_token_ids().tolist() if id != EOS]
            drafts.append(self.rng.choice(allowed if allowed and self.rng.random() < 0.9 else self.case.real))
            ahead.try_advance(drafts[-1])
        accepted = self.guide.validate(drafts)
        if self.guide.fork().advance_many(drafts) != accepted:
            raise self.differs(f"how many of {drafts} are taken")
        bits = interlock.allocate_bitmask(len(drafts) + 1, self.case.vocabulary)
        if self.guide.fill_draft_bitmasks(drafts, bits) != accepted:
            raise self.differs(f"how many of the drafts {drafts} are accepted")
        ahead = self.guide.fork()
        for row, id in zip(bits[: accepted + 1], [*drafts[:accepted], None], strict=True):
            if not np.array_equal(row, self.mask_of(ahead)):
                raise self.differs(f"a row of the drafts {drafts}")
            if id is not None:
                ahead.advance(id)

    def finish(self) -> None:
        """Goes on within a budget that is just enough."""
        try:
            fewest = self.guide.min_tokens_to_finish()
        except interlock.UnsupportedError:
            self.case.count["no short way to the end"] += 1
            return
        most = self.guide.num_tokens + fewest + self.rng.choice([0, 0, 1, 3])
        try:
            guide = self.case.index.guide(max_tokens=most)
        except interlock.BudgetError:
            self.case.count["budgets that take the start for longer"] += 1
            return
        if guide.advance_many(self.guide.tokens) < self.guide.num_tokens:
            self.case.count["budgets that take a rest for longer"] += 1
        while not guide.is_accepting or self.rng.random() < 0.7:
            allowed = [id for id in guide.allowed_token_ids().tolist() if id != EOS]
            if not allowed:
                break
            guide.advance(self.rng.choice(allowed))
        text = self.case.bytes_of(guide.tokens)
        accepts = self.case.over_bytes.guide()
        if guide.num_tokens > most or accepts.advance_many(text) != len(text) or not accepts.is_accepting:
            raise self.differs(f"{text!r} within {most} tokens")
        self.case.count["budgets"] += 1

    def step(self) -> None:
        allowed = self.look()
        draw = self.rng.random()
        if draw < 0.08:
            self.refuse(allowed)
        elif draw < 0.16:
            self.go_back(self.rng.randint(0, self.guide.num_tokens))
            return
        elif draw < 0.22:
            self.guide = self.guide.fork()
        elif draw < 0.25:
            self.guide = pickle.loads(pickle.dumps(self.guide))
        elif draw < 0.33:
            self.draft()
        elif draw < 0.38:
            self.finish()
        if not allowed or draw > 0.98:
            if not allowed and not self.guide.is_accepting:
                raise self.differs("nothing is allowed")
            self.guide.reset()
            self.beside.reset()
            return
        long = [id for id in allowed if len(self.case.tokens[id]) > 1]
        id = self.rng.choice(long if long and self.rng.random() < 0.5 else allowed)
        self.guide.advance(id)
        self.beside.advance_many(self.case.tokens[id])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="MaskBench's files")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # What is compiled a second time is an index of its own.
    interlock.set_index_cache_bytes(0)
    files = sorted(Path(options.folder).glob("*.json"))
    count: collections.Counter[str] = collections.Counter()
    differ = 0
    for number in range(options.cases):
        try:
            case = Case(random.Random(f"{options.seed}/{number}"), files, count)
        except interlock.InterlockError as error:
            count[type(error).__name__] += 1
            continue
        try:
            walk = Walk(case)
            for _ in range(STEPS):
                walk.step()
        except Exception as error:
            differ += 1
            print(f"case {number}: {error}", flush=True)
            if not isinstance(error, Differs):
                traceback.print_exc(file=sys.stdout)
    print(", ".join(f"{what} {n}" for what, n in sorted(count.items())))
    print(f"{differ} of {options.cases} cases differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
