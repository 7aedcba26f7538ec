"""The commands: normal use, ``--json``, and what they refuse."""

import json
import re
from xml.etree import ElementTree

import pytest
from command_line import machine, run

import interlock
import interlock.explain
from interlock.cli.sources import source_arguments as sources
from interlock.cli.arguments.parser import command_parser
from interlock.cli.comparing.recursion import recurses
from interlock.util.verbatim_json import extract


def test_check(folder):
    assert machine(folder, "check", "order.json", "good.json")["accepted"]
    assert machine(folder, "check", "order.json", "-", stdin='{"item":""}')["must_stop"]
    refused = machine(folder, "check", "order.json", "bad.json", code=1)
    assert (refused["line"], refused["column"], refused["pointer"]) == (2, 11, "/count")
    assert refused["byte"] == ord("0") and ord("1") in refused["allowed_bytes"]
    people = run(folder, "check", "order.json", "bad.json", code=1).stdout
    assert people.startswith("bad.json:2:11: refused at /count\n")
    swapped = run(folder, "check", "order.json", "--text", '{"count": 2, "item": ""}', code=1)
    assert "--property-order any" in swapped.stdout
    early = machine(folder, "check", "choices:yes,no", "--ids", "121", "--trace", code=1)
    assert early["forced_text"] == "es" and early["trace"][0]["allowed"] == 2


def test_every_reason_in_the_words_of_the_schema(folder):
    (folder / "wrong.json").write_text('{"item": "tea",\n "colour": "red",\n "count": 0}\n')
    found = machine(folder, "check", "order.json", "wrong.json", code=1)
    told = [(p["line"], p["column"], p["pointer"], p["keyword"]) for p in found["problems"]]
    assert told == [(2, 2, "/colour", "additionalProperties"), (3, 11, "/count", "minimum")]
    people = run(folder, "check", "order.json", "wrong.json", code=1).stdout
    assert people.splitlines()[:5] == [
        "wrong.json: refused: 2 reasons",
        "  wrong.json:2:2, at /colour:",
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


def test_inspect_sample_bench(folder):
    seen = machine(folder, "inspect", "order.json")
    assert seen["start"]["forced_text"] == "{" and seen["states"] > 1
    assert {row["keyword"] for row in seen["report"]} >= {"minimum"}
    assert seen["shortest_member"] == '{"item":""}'
    sizes = {"[a-c]{2}": 9, "a*": "infinite", "(?s:.){500}": "about 10^3023"}
    assert {p: machine(folder, "inspect", f"pattern:{p}")["language_size"] for p in sizes} == sizes
    for wild in ([], ["--wild"]):
        drawn = machine(folder, "sample", r"pattern:[a-f]{2}-\d+", "-n", "5", "--seed", "3", "--flags", "a", *wild)
        assert all(re.fullmatch(r"[a-f]{2}-[0-9]+", s["text"]) and s["confirmed"] for s in drawn["samples"])
    again = run(folder, "sample", "order.json", "-n", "5").stdout
    assert again == run(folder, "sample", "order.json", "-n", "5").stdout and "\\" not in again
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
    other = {"type": "object", "properties": {"item": {"type": "string"}}, "not": {"maxProperties": 1}}
    (folder / "other.json").write_text(json.dumps(other))
    beyond = machine(folder, "diff", "order.json", "other.json", "--limit", "max_flat_states=100", code=1)
    assert beyond["relation"] == "different" and beyond["exact"] is False and "100 pairs" in beyond["cause"]


TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}


def test_a_source_equals_itself_whatever_it_is(folder):
    """Nothing is explored then, so that recursion and grammars are no obstacle."""
    (folder / "tree.json").write_text(json.dumps(TREE))
    (folder / "indented.json").write_text(json.dumps(TREE, indent=2))
    (folder / "sums.lark").write_text('start: "(" start ")" | "x"\n')
    run(folder, "compile", "tree.json", "-t", "bytes", "-o", "tree.index")
    for second in ("tree.json", "indented.json", "tree.index"):
        assert machine(folder, "diff", "tree.json", second)["relation"] == "equal"
    assert run(folder, "diff", "sums.lark", "sums.lark").stdout == "equal\n"
    other = TREE | {"$defs": {"node": TREE["$defs"]["node"] | {"not": {"const": 7}}}}
    (folder / "other.json").write_text(json.dumps(other))
    undecided = machine(folder, "diff", "tree.json", "other.json", code=5)
    assert (undecided["equal"], undecided["relation"]) == (None, "not decided")
    assert undecided["cause"] == "tree.json recurses, so that it has no end of states"
    assert undecided["differences"] == [{"pointer": "/$defs/node/not", "second": {"const": 7}}]
    tried = undecided["tried"]
    assert tried["plausible"] > 0 and tried["random"] > 0 and tried["changed"] > 100


def test_a_sample_that_did_not_end_says_what_to_do(folder):
    schema = 'schema:{"type": "string", "minLength": 2000000}'
    said = run(folder, "sample", schema, code=1).stderr
    assert "  try: --wild --most 20000, or more: the source asks for long texts\n" in said
    said = run(folder, "sample", "pattern:a{30}", "--wild", "--most", "9", code=1).stderr
    assert "  try: a larger --most: the source asks for long texts\n" in said


def test_recursion_is_found_through_references():
    words = command_parser("inspect").parse_args(["a.json"])
    for schema, expected in (
        (TREE, True),
        ({"properties": {"a": {"$ref": "#"}}}, True),
        ({"$defs": {"a": {"$anchor": "x", "items": {"$ref": "#x"}}}, "$ref": "#x"}, True),
        ({"$id": "https://a.example/b", "anyOf": [{"$ref": "b"}, True]}, True),
        ({"$recursiveAnchor": True, "additionalProperties": {"$recursiveRef": "#"}}, True),
        ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}, True),
        ({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, False),  # Nothing leads to it.
        ({"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}, False),
        ({"enum": [{"$ref": "#"}]}, False),
        ({"contentSchema": {"$ref": "#"}}, False),  # It asserts nothing.
        ({"properties": {"$ref": {"type": "string"}}}, False),
        ({"$ref": "https://elsewhere.example/a"}, False),
        (True, False),
    ):
        source = sources.from_bytes("schema", json.dumps(schema).encode(), words, "a.json")
        assert recurses(source) == expected, schema


def test_what_inspect_cannot_compute_is_said_and_no_failure(folder):
    (folder / "tree.json").write_text(json.dumps(TREE))
    (folder / "sums.lark").write_text('start: "(" start ")" | "x"\n')
    headers = {
        "type": "object",
        "patternProperties": {"^x": {"type": "string"}},
        "propertyNames": {"maxLength": 5},
        "additionalProperties": False,
    }
    (folder / "headers.json").write_text(json.dumps(headers))
    seen = machine(folder, "inspect", "tree.json")
    assert (seen["language_size"], seen["shortest_member"]) == (None, '{"value":0}')
    assert seen["not_counted"] == {"language_size": "the schema recurses"}
    assert "not counted: the schema recurses" in run(folder, "inspect", "tree.json").stdout
    for extra in ([], ["--limit", "max_flat_states=300"]):
        seen = machine(folder, "inspect", "headers.json", *extra)
        assert seen["language_size"] is None and seen["start"]["allowed_tokens"] and seen["report"]
        assert "states" in seen["not_counted"]["language_size"]
    (folder / "digits.json").write_text('{"type": "string", "pattern": "^[0-9]{400}$"}')
    seen = machine(folder, "inspect", "digits.json", "--limit", "max_flat_states=300")
    assert "more than 300 states; --limit max_flat_states=N" in seen["not_counted"]["shortest_member"]
    grammar = run(folder, "inspect", "sums.lark").stdout
    assert "texts:          not counted: a grammar has no finite automaton" in grammar
    assert "short text:" in grammar and "whether it is the shortest is not computed: for the same reason" in grammar


@pytest.mark.parametrize(
    "source", ["order.json", 'grammar:start: "a" start | "xy"', 'schema:{"type": "array", "minItems": 300}']
)
def test_a_short_text_where_the_shortest_is_not_known(folder, source):
    seen = machine(folder, "inspect", source, "--limit", "max_flat_states=5")
    assert seen["shortest_member"] is None and seen["not_counted"]["shortest_member"]
    short = seen["short_member"]
    assert 0 < len(short) < 1000 and run(folder, "check", source, "--text", short)
    people = run(folder, "inspect", source, "--limit", "max_flat_states=5").stdout
    assert "short text:" in people and "whether it is the shortest is not computed" in people
    assert "short_member" not in machine(folder, "inspect", "pattern:a+")


def test_inspect_over_tokens_that_spell_not_every_byte(folder):
    """As with most models: some bytes occur only inside longer tokens."""
    words = [bytes([i]) for i in range(256) if i not in (ord("x"), 0xC3)] + [b"xy", b""]
    interlock.Vocabulary(words, eos_token_ids=[len(words) - 1]).save(folder / "words.ilk")
    seen = machine(folder, "inspect", "order.json", "-t", "words.ilk")
    assert "single bytes" in seen["not_counted"]["shortest_member"] and seen["start"]["allowed_tokens"]
    # That nothing is shorter than the empty text is known all the same.
    seen = machine(folder, "inspect", "pattern:.*", "-t", "words.ilk")
    assert set(seen["not_counted"]) == {"language_size"} and seen["shortest_member"] == ""
    run(folder, "compile", "order.json", "-t", "words.ilk", "-o", "order.index")
    assert (
        "not counted: the vocabulary has no tokens for some single bytes"
        in run(folder, "inspect", "order.index", "-t", "words.ilk").stdout
    )


def test_numbers_of_texts_are_short_for_people(folder):
    assert "texts:          about 10^36\n" in run(folder, "inspect", "pattern:[a-j]{36}").stdout
    assert machine(folder, "inspect", "pattern:[a-j]{36}")["language_size"] == 10**36


def test_a_document_in_the_place_of_a_schema(folder):
    """It would accept everything, so that a check in a pipeline would always be green."""
    (folder / "answer.json").write_text('{"answer": 42, "ok": true}')
    for args in (
        ["check", "answer.json", "--text", "1"],
        ["inspect", "answer.json"],
        ["compile", "answer.json", "-t", "bytes", "-o", "a.index"],
        ["sample", "answer.json"],
        ["draw", "answer.json", "-o", "a.svg"],
        ["diff", "order.json", "answer.json"],
        ["trace", "answer.json", "--text", "1"],
        ["bench", "answer.json"],
    ):
        error = machine(folder, *args, code=3)["error"]
        assert "none of its keys (answer, ok) is a keyword" in error["message"] and "--take-all" in error["remedy"]
    assert not (folder / "a.index").exists()
    assert machine(folder, "check", "answer.json", "--text", "1", "--take-all")["accepted"]
    assert machine(folder, "check", "schema:{}", "--text", "1")["accepted"]


def test_blank_lines_of_choices(folder):
    (folder / "answers.choices").write_text("yes\n\nno\n  \nmay\u2028be\r\n\n", encoding="utf-8")
    done = run(folder, "inspect", "answers.choices")
    assert "texts:          3\n" in done.stdout and "note: 2 lines are blank, and no choice" in done.stderr
    assert run(folder, "check", "answers.choices", "--text", "", code=1).stdout.startswith("refused")
    assert machine(folder, "check", "answers.choices", "--text", "may\u2028be")["accepted"]
    (folder / "one.choices").write_text("yes\n\nno")
    assert "line 2 is blank" in run(folder, "check", "one.choices", "--text", "no").stderr
    (folder / "list.choices").write_text('["yes", ""]')
    assert machine(folder, "check", "list.choices", "--text", "")["accepted"]
    assert "one of the choices is empty" in run(folder, "check", "choices:a,,b", "--text", "").stderr


def test_byte_order_marks(folder):
    """No part of a source's text, and no part of a document."""
    (folder / "mark.regex").write_text("\ufeffa+\n", encoding="utf-8")
    (folder / "mark.choices").write_text("\ufeffyes\nno\n", encoding="utf-8")
    (folder / "mark.json").write_text('\ufeff{"item": "tea"}', encoding="utf-8")
    assert machine(folder, "check", "mark.regex", "--text", "aa")["accepted"]
    assert machine(folder, "check", "mark.choices", "--text", "yes")["accepted"]
    assert "byte order mark" in run(folder, "check", "order.json", "mark.json", code=1).stdout


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_end_of_the_last_line_of_a_pattern(folder, end):
    (folder / "line.regex").write_bytes(f"a\\\n+{end}".encode())
    run(folder, "check", "line.regex", "--text", "a\n\n")
    run(folder, "check", "line.regex", "--text", "a\n\r", code=1)
    (folder / "line.regex").write_bytes(b"a\r")
    run(folder, "check", "line.regex", "--text", "a\r")


def test_drawings_on_the_standard_output(folder):
    assert run(folder, "draw", "order.json", "--format", "dot", "-o", "-").stdout.startswith("digraph")
    assert run(folder, "draw", "order.json", "--format", "dot", "-o", "/dev/stdout").stdout.startswith("digraph")
    ElementTree.fromstring(run(folder, "draw", "pattern:a|b", "--format", "svg", "-o", "-").stdout)
    assert machine(folder, "draw", "order.json", "--format", "svg", "-o", "picture")["form"] == "structure"
    mermaid = [run(folder, "draw", "order.json", "--format", name, "-o", "-").stdout for name in ("mmd", "mermaid")]
    assert mermaid[0] == mermaid[1] != ""
    ElementTree.parse(folder / "picture")


def test_samples_are_lines(folder):
    """A text that no line can show is a JSON string; a document of a schema is a line of JSON already."""
    schema = 'schema:{"type": "string", "pattern": "^[\U000fc050]$"}'
    for source, is_document in ((schema, True), ("pattern:[\U000fc050]", False)):
        done = run(folder, "sample", source, "--wild", "-n", "3", *["--whitespace", "compact"] * is_document)
        wild = machine(folder, "sample", source, "--wild", "-n", "3", *["--whitespace", "compact"] * is_document)
        texts = [sample["text"] for sample in wild["samples"]]
        assert any(not text.isprintable() for text in texts)
        lines = [line if is_document else json.loads(line) for line in done.stdout.splitlines()]
        assert lines == texts and ("written as JSON strings" in done.stderr) != is_document
    newline = run(folder, "sample", "pattern:a\\n", "-n", "1")
    assert newline.stdout == '"a\\n"\n' and newline.stderr.startswith("1 of 1 written as JSON strings")


def test_the_page_of_trace_replaces_no_other_file(folder):
    assert machine(folder, "trace", "pattern:a", "--text", "a")["file"] == "trace.html"
    again = run(folder, "trace", "pattern:a", "--text", "a")
    assert "an earlier trace.html was replaced" in again.stderr
    (folder / "trace.html").write_text("<p>my notes")
    kept = run(folder, "trace", "pattern:a", "--text", "a", code=2)
    assert "-o NAME.html" in kept.stderr and (folder / "trace.html").read_text() == "<p>my notes"
    budget = run(folder, "trace", "pattern:aaaa", "--text", "a", "--max-tokens", "2", "-o", "a.html", code=2)
    assert "--max-tokens 4, or more" in budget.stderr and not (folder / "a.html").exists()


def test_tokens_that_spell_no_text(folder):
    words = [bytes([i]) for i in range(256)] + [b"<|end|>", b"<|user|>"]
    interlock.Vocabulary(words, eos_token_ids=[256], special_token_ids=[257]).save(folder / "words.ilk")
    special = machine(folder, "check", "pattern:ab", "--ids", "97,257", "-t", "words.ilk", code=1)
    assert (special["at"], special["token"]) == (1, 257) and 'token 257 ("<|user|>") is special' in special["reason"]
    early = run(folder, "check", "pattern:ab", "--ids", "97,256", "-t", "words.ilk", code=1).stdout
    assert "stop token 256 is refused: the output is not complete" in early
    assert run(folder, "check", "pattern:a", "--ids", "97,256", "-t", "words.ilk").stdout.startswith(
        "accepted: 2 tokens"
    )


def test_one_is_one(folder):
    assert run(folder, "check", "pattern:a", "--text", "a").stdout == "accepted: 1 token, 1 byte\n"
    one = run(folder, "check", 'schema:{"contains": {"const": 1}, "minContains": 2}', "--text", "[1]", code=1).stdout
    assert "1 element that fits `contains`" in one


def test_the_place_in_json_is_the_place_in_the_text(folder):
    found = machine(folder, "check", "choices:yes,no", "--text", "y", code=1)
    assert (found["line"], found["column"]) == (1, 1) == (found["problems"][0]["line"], found["problems"][0]["column"])
    assert found["at"] == 1


def test_verify_says_no(folder):
    (folder / "empty").mkdir()
    assert "is no store" in machine(folder, "verify", "empty", code=4)["error"]["message"]
    assert "is no store" in machine(folder, "verify", ".", code=4)["error"]["message"]
    interlock.Store(folder / "store").add_vocabulary(interlock.explain.byte_vocabulary())
    assert machine(folder, "verify", "store", code=1)["problems"] == ["the store holds no packs"]


def test_verify_reads_one_file(folder):
    run(folder, "compile", "order.json", "-t", "bytes", "-o", "one.index")
    run(folder, "vocab", "bytes", "-o", "one.ilk")
    index, pack = machine(folder, "verify", "one.index"), machine(folder, "verify", "one.ilk")
    assert (index["kind"], pack["kind"]) == ("index", "vocabulary") and index["vocabulary"] == pack["fingerprint"]
    assert index["problems"] == pack["problems"] == []
    assert run(folder, "verify", "one.index").stdout.splitlines()[-1] == "problems:     0"
    for name in ("one.index", "one.ilk"):
        data = bytearray((folder / name).read_bytes())
        for changed in (data[:700], data[:20], b"", bytes([*data[:2000], data[2000] ^ 255, *data[2001:]])):
            (folder / f"bad-{name}").write_bytes(bytes(changed))
            assert len(machine(folder, "verify", f"bad-{name}", code=1)["problems"]) == 1
    assert "is no index file and no folder" in run(folder, "verify", "order.json", code=4).stderr


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
    large = "pattern:(a|b){5500}c"
    costs = "try: --max-states 5502 may take minutes and write up to 39 MB\n"
    assert costs in run(folder, "draw", large, "-o", "b.svg", code=3).stderr
    few = ["draw", "order.json", "--form", "states", "-o", "b.svg", "--max-states", "9", "--whitespace", "compact"]
    said = run(folder, *few, code=3).stderr
    assert "--whitespace" not in said and "--spelling plain makes fewer" in said and "--form structure" in said
    assert "fewer" not in run(folder, *few, "--spelling", "plain", code=3).stderr
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
    assert described["kind"] == "json_schema" and described["start"]["forced_text"] == '{"item":"'
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


def test_what_is_not_supported_is_left_out_where_that_is_asked_for(folder):
    """As in Python: ``warn`` leaves the keyword out, and a row of the report says so."""
    source = 'schema:{"type": "string", "pattern": "^(a)\\\\1$"}'
    assert machine(folder, "inspect", source, code=3)["error"]["type"] == "UnsupportedError"
    machine(folder, "inspect", source, "--on-unsupported", "error", code=3)
    rows = machine(folder, "inspect", source, "--on-unsupported", "warn")["report"]
    assert ("pattern", "wider") in {(row["keyword"], row["enforcement"]) for row in rows}
    machine(folder, "check", source, "--on-unsupported", "warn", "--text", '"b"')
    assert (
        "--on-unsupported is for a JSON Schema"
        in run(folder, "check", "pattern:a", "--on-unsupported", "warn", "--text", "a", code=2).stderr
    )
