"""What the benchmarks measure is right: the sources of the corpus, and how answers are judged."""

import json
import re
import sys
from pathlib import Path

import pytest

import interlock

BENCHES = Path(__file__).parents[2] / "benches"
RIVALS = BENCHES / "rivals"


@pytest.fixture
def modules(monkeypatch):
    """The modules of the benchmarks, by name."""
    for folder in (BENCHES, RIVALS):
        monkeypatch.syspath_prepend(str(folder))
    names = ("corpus", "engines", "jobs", "page", "workers")
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
    }
    found = modules["jobs"].source(engine, job)
    assert found["refused"] == 1 and found["accepted"] == 1
    assert len(found["masks"]) == len(found["masks again"]) == 4 and found["compile"] > 0
    assert modules["jobs"].warm(engine, {"sources": [job, {**job, "text": "("}]})["rows"][1] is None


def test_the_least_of_several_rounds_counts_at_each_position(modules):
    assert modules["workers"].least([[3, 1, 5], [2, 4, 5]]) == [2, 1, 5]
    assert modules["page"].percentile([5, 1, 4, 2, 3], 50) == 3 and modules["page"].percentile([1, 9], 100) == 9


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
