"""Indexes that came from files with tables: the same answers, nothing compiled before it is needed."""

import json
import pickle
import random

import numpy as np
import pytest

import interlock

pytestmark = [pytest.mark.usefixtures("compiled_anew"), pytest.mark.slow]

FLAT = {
    "type": "object",
    "properties": {"name": {"enum": ["ab", "12"]}, "n": {"type": "boolean"}},
    "additionalProperties": False,
}
SOURCES = [
    ("json_schema", FLAT, {"whitespace": "compact"}),
    ("json_schema", {"type": "object", "properties": {"name": {"type": "string"}}}, {}),
    ("regex", "(ab|12)*x{0,70}y", {}),
    ("choices", ["name", "name12", "nö"], {}),
]


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([b]) for b in range(256)] + [b"", b"ab", b"12", b'{"', b'":', b"name", b'"}']
    return interlock.Vocabulary(tokens, eos_token_ids=[256], size=280)


def compiled(kind, source, vocabulary, options):
    return getattr(interlock.Index, f"from_{kind}")(source, vocabulary, **options)


def walk(index, seed):
    """What a guide says along a walk, forwards and back."""
    rng, guide, said = random.Random(seed), index.guide(), []
    for turn in range(40):
        row = interlock.allocate_bitmask(1, index.vocabulary)
        said.append((guide.fill_bitmask(row), row.tobytes(), guide.is_accepting, guide.must_stop, guide.forced_bytes()))
        allowed = guide.allowed_token_ids().tolist()
        said.append(allowed)
        if turn % 9 == 8:
            guide.rollback(min(3, guide.num_tokens))
        elif allowed and not guide.is_terminated:
            guide.advance(rng.choice(allowed))
        refused = next(i for i in range(280) if i not in allowed)
        said.append((guide.try_advance(refused) and guide.num_tokens, guide.validate(allowed[:2] * 3)))
        bits = interlock.allocate_bitmask(4, index.vocabulary)
        said.append(
            (guide.fill_draft_bitmasks(np.array((allowed * 3)[:3] or [1, 2, 3], np.int32), bits), bits.tobytes())
        )
    said += [guide.tokens, guide.fork().allowed_token_ids().tolist()]
    return said


@pytest.mark.parametrize("kind, source, options", SOURCES)
def test_the_same_answers_on_and_off_the_tables(vocabulary, tmp_path, kind, source, options):
    lazy = compiled(kind, source, vocabulary, options)
    lazy.save(tmp_path / "tables", tables=True)
    lazy.save(tmp_path / "recipe")
    before = interlock.stats()["compiles"]
    index = interlock.Index.load(tmp_path / "tables", vocabulary)
    flat = source is FLAT or kind != "json_schema"
    assert index.is_complete == flat and not lazy.is_complete
    assert index.guide().allowed_token_ids().tolist() == lazy.guide().allowed_token_ids().tolist()
    if flat:
        assert [walk(index, seed) for seed in range(5)] == [walk(lazy, seed) for seed in range(5)]
        assert index.num_masks > 0 and index.num_token_classes > 1 and index.num_accepting_states > 0
    assert interlock.stats()["compiles"] == before
    assert [walk(index, seed) for seed in range(5)] == [walk(lazy, seed) for seed in range(5)]
    assert (index.report, index.fingerprint) == (lazy.report, lazy.fingerprint)
    # What only the engine knows.
    for make in ({}, {"max_tokens": 90}):
        guide, twin = index.guide(**make), lazy.guide(**make)
        # Complete tables know the least number, the engine a bound.
        assert guide.min_tokens_to_finish() <= twin.min_tokens_to_finish() and guide.explain(1) == twin.explain(1)
        assert guide.forced_tokens() == twin.forced_tokens()
        assert guide.allowed_token_ids().tolist() == twin.allowed_token_ids().tolist()
    assert index.shortest_member() == lazy.shortest_member()
    again = pickle.loads(pickle.dumps(index))
    assert again.fingerprint == index.fingerprint and walk(again, 1) == walk(lazy, 1)
    index.build()
    assert index.is_complete and walk(index, 2) == walk(lazy, 2)
    loaded = interlock.Index.load(tmp_path / "recipe", vocabulary)
    assert not loaded.is_complete and walk(loaded, 3) == walk(lazy, 3)


@pytest.mark.parametrize("kind, source, options", SOURCES)
def test_same_bytes_for_any_threads(vocabulary, tmp_path, kind, source, options):
    compiled(kind, source, vocabulary, options).save(tmp_path / "made", tables=True)
    for threads in (1, 2, 8):
        index = compiled(kind, source, vocabulary, options)
        index.build(threads=threads)
        index.save(tmp_path / "built")
        assert (tmp_path / "built").read_bytes() == (tmp_path / "made").read_bytes()
    interlock.Index.load(tmp_path / "made", vocabulary).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "made").read_bytes()


CLOSED = {"type": "object", "additionalProperties": False}


def tools(count):
    """Calls of tools that their names tell apart, each with arguments of its own."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "name": {"const": f"get_{i // 7}_name{i}"},
                    "arguments": {"properties": {f"a{i}": {"type": "boolean"}}, "required": [f"a{i}"], **CLOSED},
                },
                "required": ["name", "arguments"],
                **CLOSED,
            }
            for i in range(count)
        ]
    }


def kinds(count):
    """Two alternatives of many constants each, of which half are in both."""
    text = lambda i: f"k{i * 37 % 1000}" + 'é"\\name'[: i % 8]  # noqa: E731
    values = [text(i) for i in range(count * 3 // 2)]
    return {
        "anyOf": [
            {"properties": {"kind": {"enum": part}, key: {"type": "null"}}, "required": ["kind"], **CLOSED}
            for part, key in ((values[:count], "x"), (values[count // 2 :], "yy"))
        ]
    }


CALLS = [{"name": f"get_{i // 7}_name{i}", "arguments": {f"a{i}": i % 2 == 0}} for i in (0, 1, 10, 11, 48, 49)]
KINDS = [{"kind": "k0", "x": None}, {"kind": "k624", "yy": None}, {"kind": 'k111é"\\'}, {"kind": "k576"}]
COMPACT = {"whitespace": "compact"}
CONSTANTS = [
    pytest.param(tools(50), CALLS, COMPACT, True, id="tools"),
    # Alternatives in any order are stepped as one, with those that are left: too many sets for complete tables.
    pytest.param(tools(50), CALLS, {"property_order": "any", **COMPACT}, False, id="tools in any order"),
    pytest.param({"type": "array", "items": tools(50)}, [CALLS], COMPACT, True, id="tools in an array"),
    pytest.param(tools(50), CALLS, {}, False, id="tools, too many states"),
    pytest.param(kinds(300), KINDS, COMPACT, True, id="enums"),
    pytest.param({"enum": [*range(150), *(f"v{i}" for i in range(150))]}, [7, 149, "v0", "v149"], {}, True, id="enum"),
]


def follow(index, text):
    """The masks along a text, byte by byte, and where it ends or is refused."""
    guide, said = index.guide(), []
    for byte in text.encode():
        row = interlock.allocate_bitmask(1, index.vocabulary)
        guide.fill_bitmask(row)
        said.append(row.tobytes())
        if not guide.try_advance(byte):
            break
    return said, guide.num_tokens, guide.is_accepting


@pytest.mark.parametrize("schema, members, options, flat", CONSTANTS)
def test_constants_of_many_alternatives(tmp_path, schema, members, options, flat):
    def fresh():
        """Indexes that share nothing with each other."""
        tokens = [bytes([b]) for b in range(256)] + [b"", b"ab", b"12", b'{"', b'":', b"name", b'"}', b"get_", b'"k1']
        vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[256], size=280)
        return interlock.Index.from_json_schema(schema, vocabulary, **options)

    lazy, indexes = fresh(), []
    for threads in (1, 2):
        index = fresh()
        index.build(threads=threads)
        assert (index.num_masks is not None) == flat
        index.save(tmp_path / str(threads))
        indexes += [index, interlock.Index.load(tmp_path / str(threads), index.vocabulary)]
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    texts = [json.dumps(m, ensure_ascii=escaped) for m in members for escaped in (True, False)]
    texts = [t.replace(": ", ":").replace(", ", ",") for t in texts]
    texts += [t[:-3] + "z" + t[-3:] for t in texts]
    for text in texts:
        said = follow(lazy, text)
        assert said[2] == (text in texts[: len(texts) // 2]), text
        assert all(follow(index, text) == said for index in indexes), text
    for seed in range(3):
        said = walk(lazy, seed)
        assert all(walk(index, seed) == said for index in indexes)


@pytest.mark.parametrize("kind, source, options", SOURCES)
def test_damage_is_found_when_the_file_is_opened(vocabulary, tmp_path, kind, source, options):
    compiled(kind, source, vocabulary, options).save(tmp_path / "whole", tables=True)
    whole = (tmp_path / "whole").read_bytes()
    bad = tmp_path / "bad"
    for at in [*range(0, 1000, 3), *range(1000, len(whole), len(whole) // 500 + 1)]:
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with pytest.raises(interlock.ArtifactError):
            interlock.Index.load(bad, vocabulary)
        bad.write_bytes(whole[:at])
        with pytest.raises(interlock.ArtifactError):
            interlock.Index.load(bad, vocabulary)


def test_states_of_guides_agree_within_one_index(vocabulary, tmp_path):
    for kind, source, options in SOURCES:
        compiled(kind, source, vocabulary, options).save(tmp_path / "i", tables=True)
        index = interlock.Index.load(tmp_path / "i", vocabulary)
        one, two = index.guide(), index.guide()
        for _ in range(6):
            two.explain(1)  # from here on it is not on the tables
            assert one.state == two.state and hash(one.state) == hash(two.state)
            token = one.allowed_token_ids().tolist()[-1]
            if token == 256:
                break
            assert one.try_advance(token) == two.try_advance(token)
        two.reset()
        assert two.state == index.guide().state


def test_too_many_states_for_tables_leave_the_first_ones(vocabulary, tmp_path):
    index = interlock.Index.from_regex("[a-z]{1,5000}", vocabulary)
    index.save(tmp_path / "i", tables=True)
    loaded = interlock.Index.load(tmp_path / "i", vocabulary)
    assert not loaded.is_complete and loaded.num_masks is None and 0 < loaded.num_states < 5000
    text = list(b"abcdefgh" * 40)
    guide, twin = loaded.guide(), index.guide()
    assert guide.advance_many(text) == twin.advance_many(text) == 320
    assert guide.allowed_token_ids().tolist() == twin.allowed_token_ids().tolist()
    small = interlock.Index.from_regex("[a-z]{1,50}", vocabulary, limits={"max_flat_states": 20})
    small.save(tmp_path / "i", tables=True)
    assert not interlock.Index.load(tmp_path / "i", vocabulary).is_complete
