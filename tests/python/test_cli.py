"""The commands: normal use, ``--json``, and what they refuse."""

import json
import re
from xml.etree import ElementTree

import pytest
from command_line import machine, run, write_files, write_sources

import interlock
from interlock.cli.sources import extract


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path)


@pytest.fixture
def shelf(folder):
    return write_sources(folder)


def test_check(folder):
    assert machine(folder, "check", "order.json", "good.json")["accepted"]
    assert machine(folder, "check", "order.json", "-", stdin='{"item":""}')["must_stop"]
    refused = machine(folder, "check", "order.json", "bad.json", code=1)
    assert (refused["line"], refused["column"], refused["pointer"]) == (2, 11, "/count")
    assert refused["byte"] == ord("0") and ord("1") in refused["allowed_bytes"]
    people = run(folder, "check", "order.json", "bad.json", code=1).stdout
    assert "line 2, column 11" in people and "/count" in people
    swapped = run(folder, "check", "order.json", "--text", '{"count": 2, "item": ""}', code=1)
    assert "--property-order any" in swapped.stdout
    early = machine(folder, "check", "choices:yes,no", "--ids", "121", "--trace", code=1)
    assert early["forced"] == "es" and early["trace"][0]["allowed"] == 2


def test_every_reason_in_the_words_of_the_schema(folder):
    (folder / "wrong.json").write_text('{"item": "tea",\n "colour": "red",\n "count": 0}\n')
    found = machine(folder, "check", "order.json", "wrong.json", code=1)
    told = [(p["line"], p["column"], p["pointer"], p["keyword"]) for p in found["problems"]]
    assert told == [(2, 2, "/colour", "additionalProperties"), (3, 11, "/count", "minimum")]
    people = run(folder, "check", "order.json", "wrong.json", code=1).stdout
    assert people.splitlines()[:5] == [
        "refused: 2 reasons",
        "  line 2, column 2, at /colour:",
        "  `colour` is no property here; allowed: item, count",
        '      2 |  "colour": "red",',
        "           ^~~~~~~~",
    ]
    assert "`count`: 0 is below minimum 1" in people and "0x" not in people
    assert "0x6c" in run(folder, "check", "order.json", "wrong.json", "--bytes", code=1).stdout
    missing = run(folder, "check", "order.json", "--text", '{"count": 3}', code=1).stdout
    assert "`item` is missing; it is required" in missing
    for text, word in (("{'item': 1}", "double quotes"), ('{"item": "a", }', "comma before }"), ("", "empty")):
        assert word in run(folder, "check", "order.json", "--text", text, code=1).stdout
    mode = run(folder, "check", "order.json", "--text", '{"item":"a"}', "--whitespace", "spaced", code=1).stdout
    assert "--whitespace spaced" in mode and "--whitespace flexible" in mode
    assert "did you mean" in run(folder, "check", "choices:yes,no", "--text", "yess", code=1).stdout


def test_tokens_that_another_vocabulary_cannot_spell(folder):
    """The text is accepted byte by byte; it is these tokens that are not."""
    found = run(folder, "check", "choices:a,ab", "--ids", "97,256,98", code=1).stdout
    assert found.startswith("refused:")
    assert "'x' is no token id" in run(folder, "check", "order.json", "--ids", "39428,x", code=2).stderr


def test_compile(folder):
    made = machine(folder, "compile", "wrapped.json", "--schema-key", "schema", "-t", "bytes", "-o", "a.index")
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    index = interlock.Index.load(folder / "a.index", vocabulary)
    assert index.fingerprint == made["fingerprint"]
    before = sorted(folder.iterdir())
    for place, word in (("nowhere/a.index", "nowhere"), (".", "folder")):
        failed = machine(folder, "compile", "order.json", "-t", "bytes", "-o", place, code=4)["error"]
        assert word in failed["message"]
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (r'{"type": "string", "pattern": "^\\p{L}{2}$"}', "bad escape"),
        ('{"const": 1' + "0" * 4400 + "}", "4300 digits"),
        ('{"$ref": "#n", "dependencies": {"x": {"$anchor": "n", "type": "null"}}}', "NoSuchAnchor"),
        ('{"$ref": "http://a.test/", "dependencies": {"x": {"$id": "http://a.test/", "const": 1}}}', "Unresolvable"),
    ],
)
def test_samples_that_jsonschema_cannot_judge(folder, schema, why):
    pytest.importorskip("jsonschema")
    (folder / "schema.json").write_text(schema)
    done = run(folder, "sample", "schema.json", "-n", "2", "--json")
    assert "2 of 2 not judged by jsonschema" in done.stderr and why in done.stderr
    samples = json.loads(done.stdout)["samples"]
    assert [(sample["confirmed"], sample["judged"]) for sample in samples] == [(True, False)] * 2
    judged = machine(folder, "sample", "order.json")["samples"][0]
    assert judged["confirmed"] and judged["judged"]


def test_inspect_sample_vocab_bench(folder):
    seen = machine(folder, "inspect", "order.json")
    assert seen["start"]["forced"] == "{" and seen["states"] > 1
    assert {row["keyword"] for row in seen["report"]} >= {"minimum"}
    assert seen["shortest_member"] == '{"item":""}'
    sizes = {"[a-c]{2}": 9, "a*": "infinite", "(?s:.){500}": "about 10^3023"}
    assert {p: machine(folder, "inspect", f"pattern:{p}")["language_size"] for p in sizes} == sizes
    for wild in ([], ["--wild"]):
        drawn = machine(folder, "sample", r"pattern:[a-f]{2}-\d+", "-n", "5", "--seed", "3", "--flags", "a", *wild)
        assert all(re.fullmatch(r"[a-f]{2}-[0-9]+", s["text"]) and s["confirmed"] for s in drawn["samples"])
    again = run(folder, "sample", "order.json", "-n", "5").stdout
    assert again == run(folder, "sample", "order.json", "-n", "5").stdout and "\\" not in again
    assert "stop tokens:            id 256" in run(folder, "vocab", "bytes").stdout
    assert machine(folder, "vocab", "bytes", "--find", "a")["found"] == {"a": [97]}
    timed = machine(folder, "bench", "order.json", "--walks", "2", "--repeat", "2")
    assert timed["figures"]["mask"]["p50"] > 0 and timed["positions"] > 4
    rows = run(folder, "bench", "order.json", "--walks", "2", "--repeat", "2").stdout.splitlines()[3:]
    figures = [word for row in rows for word in row.split()[-4:]]
    assert figures and all(len(figure.replace(".", "").lstrip("0")) <= 3 or "." not in figure for figure in figures)


def test_diff(folder):
    args = ["diff", "pattern:[a-c]+", "pattern:[a-d]+"]
    assert machine(folder, *args, code=1) == {
        "equal": False,
        "relation": "the first accepts less",
        "only_first": None,
        "only_second": "d",
    }
    assert machine(folder, "diff", "pattern:a{2,5}|b", "choices:aa,aaa,aaaa,aaaaa,b")["equal"]
    beyond = run(folder, "diff", "order.json", "order.json", "--limit", "max_flat_states=100", code=3)
    assert "flat states" in beyond.stderr


def test_draw(folder):
    made = machine(folder, "draw", 'schema:{"enum": ["<a>", "b"]}', "--form", "jumps", "-o", "a.html")
    assert made["compressed_states"] < made["states"]
    text = (folder / "a.html").read_text()
    assert text.count("<svg") == 2 and "&lt;a&gt;" in text and "<a>" not in text
    assert machine(folder, "draw", "pattern:a|b", "-o", "a.svg", "--form", "states")["states"] == 2
    ElementTree.parse(folder / "a.svg")
    beyond = ["draw", "order.json", "--form", "states", "-o", "b.svg", "--max-states", "9"]
    assert "LimitError" in run(folder, *beyond, code=3).stderr
    nested = 'schema:{"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}'
    beyond = ["draw", nested, "--form", "jumps", "-o", "b.svg", "--max-states", "99"]
    assert "recurses" in run(folder, *beyond, code=3).stderr
    assert not (folder / "b.svg").exists()
    assert ".mmd" in run(folder, "draw", "pattern:a", "-o", "a.png", code=2).stderr
    assert "only a schema" in run(folder, "draw", "pattern:a", "--form", "structure", "-o", "a.svg", code=2).stderr


def test_a_schema_is_drawn_as_its_structure(folder):
    for name in ("a.html", "a.svg", "a.mmd", "a.dot"):
        made = machine(folder, "draw", "order.json", "-o", name)
        assert (made["form"], made["boxes"], made["rows"]) == ("structure", 1, 2)
        assert made["bytes"] == (folder / name).stat().st_size < 20_000
        text = (folder / name).read_text()
        assert "item" in text and "integer" in text


def test_extracting_keeps_numbers_and_order():
    text = extract(b'{"schema": {"b": 1.50, "a": [1e400, "1", true, null, 123456789012345678901234567890]}}', "schema")
    assert text == '{"b":1.50,"a":[1e400,"1",true,null,123456789012345678901234567890]}'


def test_index_files(shelf):
    """What an index file was compiled from is in it, so that every command takes it."""
    assert machine(shelf, "check", "order.index", "--text", '{"item":"tea","count":2}')["accepted"]
    refused = machine(shelf, "check", "order.index", "--text", '{"item":"tea","count":0}', code=1)
    assert [problem["keyword"] for problem in refused["problems"]] == ["minimum"]
    assert machine(shelf, "check", "order.index", "--text", '{"item": "tea"}', code=1)["problems"]
    described = machine(shelf, "inspect", "order.index")
    assert described["kind"] == "json_schema" and described["start"]["forced"] == '{"item":"'
    assert described["fingerprint"] == machine(shelf, "inspect", "order.json", "--whitespace", "compact")["fingerprint"]
    assert all(json.loads(s["text"]) for s in machine(shelf, "sample", "order.index", "-n", "3")["samples"])
    assert machine(shelf, "diff", "order.index", "order.json", "--json", code=1)["relation"] == "the first accepts less"
    assert machine(shelf, "draw", "order.index", "-o", "a.svg")["form"] == "structure"
    assert machine(shelf, "trace", "order.index", "--text", '{"item":"tea"}', "-o", "a.html")
    loaded = machine(shelf, "inspect", "order.index", "-t", "vocabulary.ilk")
    assert loaded["fingerprint"] == described["fingerprint"] and loaded["states"] >= described["states"]
    for source, name in (("list.gbnf", "list.index"), ("tag.json", "tag.index"), ("choices:yes,no", "choices.index")):
        run(shelf, "compile", source, "-t", "bytes", "-o", name)
        assert machine(shelf, "inspect", name)["fingerprint"] == machine(shelf, "inspect", source)["fingerprint"]
        run(shelf, "sample", name)
