"""What the benchmarks measure is right: the sources of the corpus, and how answers are judged."""

import functools
import json
import re
import sys
from pathlib import Path

import pytest

import interlock

pytestmark = pytest.mark.slow

BENCHES = Path(__file__).parents[3] / "benches"
RIVALS = BENCHES / "rivals"


@pytest.fixture
def modules(monkeypatch):
    """The modules of the benchmarks, by name."""
    for folder in (BENCHES, RIVALS):
        monkeypatch.syspath_prepend(str(folder))
    names = ("answers", "calls", "corpus", "engines", "jobs", "page", "side", "soak", "targets", "threads", "workers")
    yield {name: __import__(name) for name in names}
    for name in names:
        sys.modules.pop(name)


def test_sources_accept_their_members_and_refuse_their_outsiders(modules, byte_vocabulary):
    sources = modules["corpus"].sources()
    kinds = [source.group for source in sources]
    assert kinds.count("schema") >= 60 and kinds.count("pattern") >= 40 and kinds.count("hard pattern") >= 10
    sources += [modules["corpus"].wide(30), modules["corpus"].tools(5)]
    for source in sources:
        if source.kind == "pattern":
            indexes = [interlock.Index.from_regex(source.text, byte_vocabulary)]
        else:
            orders = ("schema", "any")
            indexes = [interlock.Index.from_json_schema(source.text, byte_vocabulary, property_order=o) for o in orders]
        for index in indexes:
            for text, accepted in [(t, True) for t in source.members] + [(t, False) for t in source.outsiders]:
                guide, ids = index.guide(), list(text.encode())
                assert (guide.advance_many(ids) == len(ids) and guide.is_accepting) == accepted, (source.name, text)


def test_wrong_answers_are_counted(modules):
    """A member that the engine refuses and an outsider that it accepts do not go unnoticed."""
    letters = [bytes([i]) for i in range(256)] + [b""]
    engine = modules["engines"].Interlock(modules["corpus"].Tokens(letters, 256))
    job = {
        "kind": "pattern",
        "text": "[ab]+",
        "members": [list(b"ab"), list(b"ac")],
        "outsiders": [list(b"b"), list(b"")],
        "never": 0,
    }
    found = modules["jobs"].source(engine, job)
    assert found["passed"] == [True, False] and found["accepted"] == 1
    assert [list(map(len, found[key])) for key in ("masks", "masks again")] == [[2, 2], [2, 2]] and found["compile"] > 0
    assert modules["jobs"].warm(engine, {"sources": [job, {**job, "text": "("}]})["rows"][1] is None


class Idle:
    """A guide whose masks nobody fills."""

    def __init__(self, guide):
        self.guide = guide

    def __getattr__(self, name):
        return getattr(self.guide, name)

    def fill_bitmask(self, bits, row=0):
        return True


def idle_fills(guides, bits, rows=None, threads=None):
    return True


def full_fills(guides, bits, rows=None, threads=None):
    bits[...] = -1
    return True


@pytest.fixture
def byte_engine(modules):
    """interlock over single bytes, and a job of a schema with members of many tokens."""
    engine = modules["engines"].Interlock(modules["corpus"].Tokens([bytes([i]) for i in range(256)] + [b""], 256))
    source = modules["corpus"].tools(3)
    member = list(source.members[0].encode())
    return engine, {"kind": "schema", "text": source.text, "members": [member], "outsiders": [], "never": 0}


def test_who_fills_no_masks_is_caught_one_by_one(modules, byte_engine, monkeypatch):
    engine, job = byte_engine
    right = modules["jobs"].source(engine, job)
    assert right["passed"] == [True] and right["wide"] == 0
    monkeypatch.setattr(engine, "fill", lambda session: True)
    assert modules["jobs"].source(engine, job)["passed"] == [False]
    monkeypatch.setattr(engine, "fill", lambda session: engine.bits.fill(-1))
    wide = modules["jobs"].source(engine, job)
    assert wide["passed"] == [True] and wide["wide"] == len(job["members"][0])


@pytest.mark.parametrize("fills", [idle_fills, full_fills])
def test_who_fills_no_masks_of_a_batch_is_caught(modules, byte_engine, monkeypatch, fills):
    engine, job = byte_engine
    batch = {"sources": [job], "size": 5, "threads": 1, "rounds": 3}
    found = modules["jobs"].batch(engine, batch)
    assert found["cold"] > 0 and len(found["known"]) == 3
    monkeypatch.setattr(interlock, "fill_bitmasks", fills)
    with pytest.raises(AssertionError, match="not that of its session alone"):
        modules["jobs"].batch(engine, batch)


@pytest.mark.parametrize("fills", [idle_fills, full_fills])
def test_who_fills_no_masks_is_caught_by_threads_and_calls(modules, llama3, monkeypatch, fills):
    calls, threads = modules["calls"], modules["threads"]
    monkeypatch.setattr(threads, "SECONDS", 0.01)
    monkeypatch.setattr(calls, "measure", lambda statement, names: exec(statement, names) or 1.0)
    known, anew = threads.Known(threads.Letters(llama3), 8), threads.Anew(threads.Letters(llama3))
    assert known.speed(2) > 0 and anew.speed(2) > 0 and len(list(calls.lines())) == 2 * len(calls.STATEMENTS)
    monkeypatch.setattr(interlock, "fill_bitmasks", fills)
    for work in (lambda: known.work(0), lambda: anew.speed(1), lambda: list(calls.lines())):
        with pytest.raises(AssertionError):
            work()


def test_who_fills_no_masks_is_caught_over_the_history(modules, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES / "asv"))
    from benchmarks import common, guiding

    name = common.NAMES[1]
    tokens, bits = common.sources()[name][1], interlock.allocate_bitmask(1, common.vocabulary())
    common.walk(common.compile(name).guide(), tokens, bits)
    with pytest.raises(AssertionError):
        common.walk(Idle(common.compile(name).guide()), tokens, bits)
    batch = guiding.Batch()
    batch.setup(4, 1)
    batch.time_fill(4, 1)
    batch.teardown(4, 1)
    for fills in (idle_fills, full_fills):
        batch.setup(4, 1)
        fills(batch.guides, batch.bits)
        with pytest.raises(AssertionError):
            batch.teardown(4, 1)
    jump = guiding.Jump()
    jump.setup()
    jump.time_forced_tokens()
    for module in [module for module in sys.modules if module.split(".")[0] == "benchmarks"]:
        sys.modules.pop(module)


def test_the_least_of_several_rounds_counts_at_each_position(modules):
    assert modules["workers"].least([[3, 1, 5], [2, 4, 5]]) == [2, 1, 5]
    page, hundred = modules["page"], list(range(1, 101))
    assert page.percentile([5, 1, 4, 2, 3], 50) == 3 and page.percentile([1, 9], 100) == 9
    assert [page.percentile(hundred, p) for p in (1, 50, 99, 99.9, 100)] == [1, 50, 99, 100, 100]
    assert page.percentile(range(64), 50) == 31 and page.percentile(range(1_000), 99.9) == 998
    in_us = [n * 1_000 for n in hundred]
    assert page.spread(in_us, (50, 99, 99.9, 100)) == "50.0 / 99.0 / - / 100"
    assert page.spread(in_us[:99], (99, 100)) == "- / 99.0" and page.spread([], (50,)) == "-"


def test_common_positions_are_those_of_members_that_all_follow(modules):
    """The second member is refused by one engine, the second source by another: nobody's times of these count."""
    page, engines = modules["page"], {}
    for name, passed in {"a": [[True, True], [True]], "b": [[True, False], []], "outlines-core": [[], [True]]}.items():
        times = [[[1_000] * 3 for _ in members] for members in passed]
        engines[name] = {"passed": passed, "masks": dict.fromkeys(page.COLUMNS, times)}
    side = {"sources": [{"group": "schema"}] * 2, "engines": engines}
    counts = [row.split("|")[2].strip() for row in page.masks(side, ["schema"])[2:5]]
    assert counts == ["9", "6", "3"]
    assert [row.split("|")[2].strip() for row in page.masks(side, ["schema"], True)[2:5]] == ["3", "3", "0"]


def test_the_page_of_a_folder_says_what_was_measured(modules, monkeypatch):
    """Real processes, over few tokens: keys in another order than declared are refused in one of two orders."""
    page, side, targets = modules["page"], modules["side"], modules["targets"]
    schema = json.dumps({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})
    texts = ['{"a": 12, "b": "some words"}', '{"b": "", "a": 1}']
    chosen = [modules["corpus"].Source(f"schema {i}", "schema", schema, texts[: i + 1], ['{"a": "1"}']) for i in (0, 1)]
    names = ["nothing", "interlock", "interlock, any order"]
    monkeypatch.setattr(targets, "GUIDES", 4)
    for module, name in ((module, name) for module in (side, targets) for name in ("Worker", "job_of")):
        monkeypatch.setattr(module, name, functools.partial(getattr(module, name), size=32_000))
    measured = side.measure(names, False, chosen)
    results = {"machine": "Here", "versions": {"interlock": "9"}, "commit": "abc", "of": "schemas", "title": "A folder"}
    results |= {"files": 1_234, "side": measured, "batches": targets.batches(names, chosen, measured)}
    # What was measured is kept as JSON.
    text = page.found(json.loads(json.dumps(results)))
    for said in (
        "# Schemas of A folder\n\n2 of the 1,234 files of A folder",
        "Here. interlock 9. Commit abc.",
        "| schemas that do not compile, % | 1 | 0, met | 0, met | - |",
        "`interlock` refuses a member of 1 schemas. In 1 of them",
        "| interlock | 2 of 2 | 0 | 1 | 0 | 0 |\n| interlock, any order | 2 of 2 | 0 | 0 | 0 | 0 |",
    ):
        assert said in text, text
    assert "None" not in text and "known masks, one thread, ms | 0.4 | 0.0" in text
    # What the vocabulary takes is pages that children share and do not touch.
    nothing, ours = (measured["engines"][name]["memory"]["resident"] for name in names[:2])
    assert ours > nothing + (4 << 20)


def test_the_soak_judges_growth_and_times(modules):
    """A last block that happens to be low hides nothing, nor does one slow block decide."""
    soak = modules["soak"]

    def rights(mib, p999, cache=lambda n: 1.0):
        blocks = [soak.Block(n * 100, mib(n), 1.0, 1.0, p999(n), cache(n)) for n in range(1, 21)]
        return [right for right, _ in soak.judged(blocks)]

    assert rights(lambda n: 500.0, lambda n: 9.0 if n == 20 else 1.0) == [True, True, True]
    assert rights(lambda n: 500.0 + 10 * n - 90 * (n == 20), lambda n: 1.0) == [False, True, True]
    assert rights(lambda n: 500.0, lambda n: 1.0 if n < 14 else 2.1) == [True, True, False]
    # What the caches take is theirs, as long as they keep to their bound.
    assert rights(lambda n: 300.0 + 10 * n, lambda n: 1.0, lambda n: 50.0 + 10 * n) == [True, True, True]
    assert rights(lambda n: 300.0 + 20 * n, lambda n: 1.0, lambda n: 20.0 * n) == [True, False, True]
    assert list(soak.judged([]))[0][0]


def test_targets_are_judged_where_there_are_enough_times(modules):
    targets = modules["targets"]
    assert targets.judged([0.1, 3.0], (0.1, 3)) == "0.1 / 3, met"
    assert targets.judged([0.1, 3.1], (0.1, 3)) == "0.1 / 3.1, **not met**"
    assert targets.judged([1_234.5], ()) == "1,234" and targets.judged(None, (1,)) == "-"
    results = {"side": {"engines": {"interlock": {"compile": {"warm": [None] + [2_000_000] * 99}}}}}
    assert targets.milliseconds("warm", 50)(results, "interlock") == [2.0]
    assert targets.milliseconds("warm", 99)(results, "interlock") is None


def test_sources_are_found_in_a_folder(modules, monkeypatch, tmp_path):
    """Patterns between anchors that mean the same in every dialect, with a text of the files where one matches."""
    monkeypatch.syspath_prepend(str(RIVALS))
    found = __import__("found")
    properties = {
        "a": {"pattern": "^[a-z]{3}$"},
        "b": {"pattern": "^x|y$"},
        "c": {"pattern": "^(x|[)|])+\\d{2}$"},
        "d": {"pattern": "z"},
        "e": {"pattern": "^é$"},
        "f": {"pattern": "^cost\\$"},
    }
    case = {
        "schema": {"properties": properties, "patternProperties": {"^k_\\d$": {}}},
        "tests": [{"data": ["abc", {"b": "k"}]}],
    }
    (tmp_path / "one.json").write_text(json.dumps(case))
    sources = {source.text: source.members[0] for source in found.found_patterns(tmp_path, 10)}
    assert set(sources) == {"[a-z]{3}", "(x|[)|])+\\d{2}", "k_\\d"}
    assert sources["[a-z]{3}"] == "abc" and all(re.fullmatch(text, member) for text, member in sources.items())
    assert len(found.found_patterns(tmp_path, 2)) == 2
    # The schema itself, its valid documents and its invalid ones.
    case["tests"] = [{"data": {"a": "abc"}, "valid": True}, {"data": {"a": "é"}, "valid": False}]
    (tmp_path / "one.json").write_text(json.dumps(case))
    (source,) = found.found_schemas(tmp_path, 10)
    assert (source.kind, source.members, source.outsiders) == ("schema", ['{"a": "abc"}'], ['{"a": "é"}'])
    sys.modules.pop("found")
