"""Token budgets: complete outputs whatever is sampled, and errors that name the number needed."""

import json
import pickle
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import interlock


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([b]) for b in range(256)] + [b"", b'{"', b'":', b'", "', b"true", b"null"]
    return interlock.Vocabulary(tokens, eos_token_ids=[256])


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}


def test_outputs_are_complete_whatever_is_sampled(vocabulary):
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    needed = index.guide().min_tokens_to_finish()
    rng = random.Random(0)
    for extra in range(12):
        guide = index.guide(max_tokens=needed + extra)
        while guide.num_tokens < needed + extra:
            allowed = [t for t in guide.allowed_token_ids().tolist() if t != 256]
            if not allowed:
                break
            guide.advance(rng.choice(allowed))
        assert guide.is_accepting
        json.loads(vocabulary.decode(guide.tokens))


def test_too_small_a_budget_names_the_number(vocabulary):
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=0)
    needed = caught.value.value
    assert 10 < needed <= index.guide().min_tokens_to_finish()
    index.guide(max_tokens=needed)
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=needed - 1)
    assert (caught.value.limit, caught.value.value) == (needed - 1, needed)


def test_a_budget_that_a_built_index_fits_is_not_refused_by_others(vocabulary):
    """What spells the shortest bytes is not always the fewest tokens."""
    index = interlock.Index.from_regex("(?:zyx|true|null1)", vocabulary)
    for again in (index, pickle.loads(pickle.dumps(index))):
        assert again.guide(max_tokens=1).allowed_token_ids().tolist() == [vocabulary_id(vocabulary, b"true")]
    index.build()
    index.guide(max_tokens=1)
    again = pickle.loads(pickle.dumps(index)).guide(max_tokens=1)
    again.advance(vocabulary_id(vocabulary, b"true"))
    assert again.must_stop
    with pytest.raises(interlock.BudgetError, match="needs 1 token"):
        index.guide(max_tokens=0)


def vocabulary_id(vocabulary, token):
    return next(t for t in range(len(vocabulary)) if vocabulary.token_bytes(t) == token)


def test_a_pickled_guide_keeps_its_budget(vocabulary):
    index = interlock.Index.from_regex("[a-z]{2,40}", vocabulary)
    guide = pickle.loads(pickle.dumps(index.guide(max_tokens=2)))
    guide.advance(ord("a"))
    guide.advance(ord("b"))
    assert guide.allowed_token_ids().tolist() == [256]
    assert not guide.try_advance(ord("c"))
    assert "max_tokens" in guide.explain(ord("c"))


TRAPS = {
    "a turn inside a pattern": "a|b[c]{30}",
    "an optional part that is long": "(x[0-9]{20})?y",
    "a shape that costs more than its rule": {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "null"},
                {
                    "type": "object",
                    "properties": {k: {"type": "string", "minLength": 5} for k in ("one", "two", "three")},
                    "required": ["one", "two", "three"],
                },
            ]
        },
    },
    "an optional member that is long": {
        "type": "object",
        "properties": {"a": {"type": "string", "minLength": 40}, "b": {"const": 1}},
        "required": ["b"],
        "additionalProperties": False,
    },
    "members that need others": {
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"const": "a long constant that must follow"}},
        "dependentRequired": {"a": ["b"]},
        "additionalProperties": False,
    },
    "unique elements": {"type": "array", "items": {"enum": [1, 22, 333, 4444]}, "uniqueItems": True, "minItems": 2},
    "elements that count": {"type": "array", "contains": {"const": "needle"}, "minContains": 2, "maxItems": 6},
    "recursion": {
        "$defs": {
            "t": {
                "type": "object",
                "properties": {"l": {"$ref": "#/$defs/t"}, "v": {"type": "integer"}},
                "required": ["v"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/t",
    },
}


def index_of(source, vocabulary):
    if isinstance(source, str):
        return interlock.Index.from_regex(source, vocabulary)
    return interlock.Index.from_json_schema(source, vocabulary, property_order="any")


@pytest.mark.parametrize("name", TRAPS)
def test_the_mask_is_what_advance_takes(vocabulary, name):
    """At every step of random walks, by trying every token; and whoever prolongs is stopped in time."""
    source = TRAPS[name]
    index = index_of(source, vocabulary)
    needed = index.guide().min_tokens_to_finish()
    for seed, extra in enumerate([0, 1, 7, 45]):
        rng = random.Random(seed)
        guide = index.guide(max_tokens=needed + extra)
        free = index.guide()
        for step in range(needed + extra):
            allowed = guide.allowed_token_ids().tolist()
            if step % 7 == 0:
                taken = []
                for token in range(len(vocabulary)):
                    if guide.try_advance(token):
                        taken.append(token)
                        guide.rollback(1)
                assert taken == allowed, (name, seed, step)
            allowed = [t for t in allowed if t != 256]
            if not allowed:
                break
            looked = rng.sample(allowed, min(5, len(allowed)))
            for token in looked:
                assert guide.try_advance(token), (name, seed, step, token)
                guide.rollback(1)

            def missing(token):
                free.advance(token)
                tokens = free.min_tokens_to_finish()
                free.rollback(1)
                return tokens

            token = max(looked, key=missing)
            guide.advance(token)
            free.advance(token)
        assert guide.is_accepting, (name, seed, vocabulary.decode(guide.tokens))
        assert guide.num_tokens <= needed + extra


def fewest(index, tokens, limit=9):
    """Breadth-first search over tokens: the least number that completes the output after ``tokens``."""
    guide = index.guide()
    guide.advance_many(tokens)
    front, seen = [list(tokens)], {guide.state}
    for length in range(limit):
        following = []
        for path in front:
            guide.reset()
            guide.advance_many(path)
            if guide.is_accepting:
                return length
            for token in guide.allowed_token_ids().tolist():
                guide.advance(token)
                if guide.state not in seen:
                    seen.add(guide.state)
                    following.append([*path, token])
                guide.rollback(1)
        front = following
    raise AssertionError("no end within the limit")


@pytest.mark.parametrize(
    "source",
    [
        "(true|null|[0-9]{4})",
        "(a|ab|abc){2}(x|yy)?",
        {"enum": ["name", "tags", True, None]},
        {
            "type": "object",
            "properties": {"a": {"enum": [True, "long"]}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ],
    ids=str,
)
def test_a_built_index_knows_the_fewest_tokens(source):
    words = [b'{"', b'":', b'", "', b"true", b"null", b"12", b"ab", b"abc", b'"name"', b"lon", b'g"', b'"}']
    vocabulary = interlock.Vocabulary([bytes([b]) for b in range(256)] + [b"", *words], eos_token_ids=[256])
    options = {} if isinstance(source, str) else {"whitespace": "compact"}
    make = interlock.Index.from_regex if isinstance(source, str) else interlock.Index.from_json_schema
    index = make(source, vocabulary, **options)
    index.build()
    rng = random.Random(5)
    guide = index.guide()
    for _ in range(6):
        guide.reset()
        while True:
            assert guide.min_tokens_to_finish() == fewest(index, guide.tokens)
            allowed = [t for t in guide.allowed_token_ids().tolist() if t != 256]
            if not allowed:
                break
            guide.advance(rng.choice(allowed))
    # Budgets are exact then: of the tokens, those stay after which the rest fits.
    needed = index.guide().min_tokens_to_finish()
    for extra in (0, 1, 2):
        guide = index.guide(max_tokens=needed + extra)
        while not guide.must_stop:
            left = needed + extra - guide.num_tokens
            free = index.guide()
            free.advance_many(guide.tokens)
            expected = []
            for token in free.allowed_token_ids().tolist():
                free.advance(token)
                if token == 256 or (left > 0 and free.min_tokens_to_finish() <= left - 1):
                    expected.append(token)
                free.rollback(1)
            assert guide.allowed_token_ids().tolist() == expected
            guide.advance(rng.choice(expected))
            if guide.is_terminated:
                break


def test_a_stop_token_that_spells_something_is_no_way_to_the_end(vocabulary):
    index = interlock.Index.from_regex("(true|false)", vocabulary)
    index.build()
    (true,) = [t for t in range(len(vocabulary)) if vocabulary.token_bytes(t) == b"true"]
    assert index.guide().min_tokens_to_finish() == 1
    guide = index.guide(max_tokens=4, stop_token_ids=[256, true])
    assert guide.min_tokens_to_finish() == 4


def test_walks_that_always_prolong_end_in_time_over_real_schemas(llama3, monkeypatch):
    """One walk of tests/tools/budget_walks.py for every other schema of the corpus."""
    pytest.importorskip("jsonschema_rs")
    root = Path(__file__).parents[3]
    monkeypatch.syspath_prepend(str(root / "tests" / "tools"))
    import budget_walks

    counts, rng = Counter(), random.Random(3)
    schemas = budget_walks.sources(root / "benches" / "corpus" / "schemas.jsonl")[::2]
    for _, schema in schemas:
        order = rng.choice(["any", "schema"])
        index = interlock.Index.from_json_schema(
            schema, llama3, property_order=order, whitespace="flexible", formats="annotate"
        )
        budget_walks.walk(index, schema, rng, 2, counts)
    assert counts["complete, in time and valid"] >= 0.9 * len(schemas), counts


@pytest.mark.parametrize(
    "source",
    [
        {"type": "string", "minLength": 400},
        {"type": "string", "pattern": "a.{30}.*b.{40}"},
        {"type": "object", "required": ["id"], "additionalProperties": {"type": "string"}},
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    ],
    ids=["a long string", "counts that overlap", "open keys", "unique elements"],
)
def test_the_mask_near_the_end_is_what_advance_takes(llama3, source):
    """Where pricing every token by itself would take seconds or more."""
    index = interlock.Index.from_json_schema(source, llama3)
    needed = index.guide().min_tokens_to_finish()
    rng = random.Random(1)
    for extra in (0, 4):
        guide = index.guide(max_tokens=needed + extra)
        for _ in range(5):
            allowed = guide.allowed_token_ids().tolist()
            free = index.guide()
            assert free.advance_many(guide.tokens) == guide.num_tokens
            others = list(set(free.allowed_token_ids().tolist()) - set(allowed))
            for token in rng.sample(allowed, min(16, len(allowed))):
                assert guide.try_advance(token), token
                guide.rollback(1)
            # Work is bounded: of a pattern with many states, tokens that would fit may be left out.
            for token in [] if "pattern" in source else rng.sample(others, min(16, len(others))):
                assert not guide.try_advance(token), token
            guide.advance(rng.choice(allowed))
            if guide.is_terminated:
                break
        assert guide.is_terminated or guide.allowed_token_ids().size > 0


@pytest.mark.slow
def test_ends_that_are_far_are_not_searched_for(byte_vocabulary):
    """A multiple has as many states as its divisor, and long strings as many as characters."""
    multiple = interlock.Index.from_json_schema({"type": "integer", "multipleOf": 10**30 + 1}, byte_vocabulary)
    guide = multiple.guide(max_tokens=40)
    assert guide.min_tokens_to_finish() == 1 and ord("0") in guide.allowed_token_ids()
    for least in (2**18 + 1, 1_000_000):
        long = interlock.Index.from_json_schema({"type": "string", "minLength": least}, byte_vocabulary)
        with pytest.raises(interlock.BudgetError, match="no short output was found"):
            long.guide().min_tokens_to_finish()


#: Sources of which no output is short enough to be planned, and some for which a completion is much work.
FAR = [
    ({"type": "array", "minItems": 10**9}, False),
    ({"type": "array", "items": {"type": "array", "minItems": 10**9}, "minItems": 1}, False),
    ({"type": "object", "minProperties": 10**9}, False),
    ({"type": "object", "properties": {"a": {"type": "array", "minItems": 10**9}}, "required": ["a"]}, False),
    ({"type": "string", "minLength": 10**9}, False),
    ({"type": "object", "minProperties": 80}, True),
    ({"type": "object", "minProperties": 400}, True),
    ({"type": "object", "minProperties": 5000}, True),
    (
        {"type": "object", "patternProperties": {"^[a-c]*$": {}}, "additionalProperties": False, "minProperties": 60},
        True,
    ),
]


@pytest.mark.parametrize(("schema", "counted"), FAR, ids=[json.dumps(schema)[:60] for schema, _ in FAR])
def test_budgets_of_long_outputs(schema, counted, byte_vocabulary):
    """One class of error, with a number where there is one; and the search for it ends."""
    index = interlock.Index.from_json_schema(schema, byte_vocabulary)
    begun = time.process_time()
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=10)
    assert time.process_time() - begun < 5  # It was minutes, and hours.
    assert (caught.value.value is not None) == counted or "minProperties" in str(schema)
    if caught.value.value is None:
        assert caught.value.limit is None and "no complete output is known that is short enough" in str(caught.value)
    else:
        assert caught.value.limit == 10
        walked = index.guide(max_tokens=caught.value.value)
        assert walked.min_tokens_to_finish() <= caught.value.value
    assert (
        index.guide().try_advance(ord("{"))
        or index.guide().try_advance(ord("["))
        or index.guide().try_advance(ord('"'))
    )


def of_many_names(names: int, order: str, vocabulary: interlock.Vocabulary) -> interlock.Index:
    schema = {
        "type": "object",
        "properties": {f"k{i}": {"type": ["integer", "null"] if i % 3 else "boolean"} for i in range(names)},
        "required": [f"k{i}" for i in range(0, names, 2)] + ["z"],
    }
    source = {"anyOf": [{"type": "null"}, schema]}
    return interlock.Index.from_json_schema(source, vocabulary, property_order=order, whitespace="compact")


@pytest.mark.parametrize("order", ["schema", "any"])
def test_objects_of_many_names_fit_or_not_as_if_each_was_written(vocabulary, order):
    """Objects that lack too many names are given up without being written: the masks are those of writing them."""
    index = of_many_names(80, order, vocabulary)
    rng = random.Random(0)
    free = index.guide()
    free.advance_many(b"{")
    needed = free.min_tokens_to_finish() + 1
    told_apart = 0
    for budget in (1, 2, 9, needed // 4, needed // 2, needed - 2, needed, needed + 3, needed + 9):
        guide, free, taken = index.guide(max_tokens=max(budget, 1)), index.guide(), 0
        for _ in range(14):
            left, expected = budget - taken - 1, []
            for token in free.allowed_token_ids().tolist():
                if token == 256:
                    expected += [token]
                    continue
                after = free.fork()
                after.advance(token)
                expected += [token] if after.min_tokens_to_finish() <= left else []
            if left < 0:
                expected = [token for token in expected if token == 256]
            assert guide.allowed_token_ids().tolist() == expected, (budget, free.tokens)
            told_apart += len(expected) != len(free.allowed_token_ids())
            on = [token for token in expected if token != 256]
            if not on:
                break
            token = rng.choice(on)
            guide.advance(token)
            free.advance(token)
            taken += 1
            if taken % 5 == 0:  # More is left than before.
                guide.rollback(3)
                free.rollback(3)
                taken -= 3
    assert told_apart > 9


def test_objects_of_thousands_of_names_take_no_time_that_grows_with_their_square(vocabulary):
    names = [str(i) for i in range(40_000)]
    bits = interlock.allocate_bitmask(1, vocabulary)
    for source in (
        {"required": names},
        {"anyOf": [{"type": "null"}, {"type": "object", "required": names}]},
        {"type": "array", "items": {"properties": dict.fromkeys(names, {"type": "integer"}), "required": names}},
    ):
        index = interlock.Index.from_json_schema(source, vocabulary)
        for _ in range(2):
            guide = index.guide(max_tokens=60)
            begin = time.process_time()
            guide.fill_bitmask(bits)
            # A tenth of a second at most on a busy machine; it was twelve.
            assert time.process_time() - begin < 1
            assert not guide.try_advance(ord("{")) if "type" not in source else True


def test_a_whole_object_of_thousands_of_names_is_planned(vocabulary):
    names = [f"k{i}" for i in range(5_000)]
    source = {"type": "object", "properties": dict.fromkeys(names, {"type": "integer"}), "required": names}
    index = interlock.Index.from_json_schema(source, vocabulary, whitespace="compact")
    begin = time.process_time()
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=60)
    guide = index.guide(max_tokens=caught.value.value)
    while not guide.is_accepting:
        tokens = guide.allowed_token_ids()
        assert len(tokens)
        guide.advance(int(tokens[0]))
        if guide.num_tokens == 20:
            break
    assert time.process_time() - begin < 20


def test_a_budget_of_tens_of_thousands_of_names_takes_little_memory():
    script = """
import resource, sys
import interlock
vocabulary = interlock.Vocabulary([bytes([b]) for b in range(256)] + [b""], eos_token_ids=[256])
names = [f"n{i}" for i in range(40_000)]
schema = {"type": "object", "properties": dict.fromkeys(names, {"type": "integer"}), "required": names}
index = interlock.Index.from_json_schema(schema, vocabulary)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for room in (1_000, 200_000):
    try:
        index.guide(max_tokens=room)
    except interlock.BudgetError:
        continue
    sys.exit("a budget that no output fits")
held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(held * (1 if sys.platform == "darwin" else 1024))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100 << 20
