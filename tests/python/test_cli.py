"""The command line, run as a subprocess: normal use, ``--json``, bad input, exit codes, interruption."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

import interlock
from interlock.cli import files
from interlock.cli.check import pointer_at
from interlock.cli.graph import bytewise, characters, counted, jumps, label
from interlock.cli.layout import layered
from interlock.cli.sources import extract
from interlock.cli.svg import svg
from interlock.cli.vocabularies import byte_vocabulary

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
ORDER = {
    "type": "object",
    "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
    "required": ["item"],
    "additionalProperties": False,
}
COMMAND = [sys.executable, "-m", "interlock.cli"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "order.json").write_text(json.dumps(ORDER))
    (tmp_path / "wrapped.json").write_text(json.dumps({"schema": {"const": 1.50}, "tests": []}))
    (tmp_path / "good.json").write_text('{"item": "tea", "count": 2}\n')
    (tmp_path / "bad.json").write_text('{"item": "tea",\n "count": 0}')
    return tmp_path


def run(folder, *args, code=0, stdin=None):
    done = subprocess.run([*COMMAND, *args], cwd=folder, capture_output=True, text=True, input=stdin, timeout=60)
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def machine(folder, *args, code=0, stdin=None):
    return json.loads(run(folder, *args, "--json", code=code, stdin=stdin).stdout)


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


def test_refused_sources(folder):
    error = machine(folder, "inspect", 'schema:{"properties": {"a": {"type": "strin"}}}', code=3)["error"]
    assert (error["type"], error["pointer"], error["keyword"]) == ("SchemaError", "/properties/a", "type")
    error = machine(folder, "inspect", "pattern:a(b", code=3)["error"]
    assert (error["type"], error["offset"]) == ("PatternError", 1)
    unsupported = run(folder, "inspect", r"pattern:(a)\1", code=3)
    assert "UnsupportedError" in unsupported.stderr and "try:" in unsupported.stderr and not unsupported.stdout


def test_wrong_arguments(folder):
    for args, word in (
        (["inspect", "order"], "schema:@order"),
        (["inspect", "order.json", "--limit", "max_dept=3"], "max_depth"),
        (["check", "order.json"], "--text"),
        (["nonsense"], "nonsense"),
    ):
        assert word in machine(folder, *args, code=2)["error"]["message"]
    assert "missing.json" in machine(folder, "inspect", "missing.json", code=4)["error"]["message"]
    assert machine(folder, "inspect", "wrapped.json", "--schema-key", "x", code=4)["error"]["type"] == "InputError"


def test_inputs_that_are_not_supported(folder):
    """They are inputs, not sources: no option of compiling makes them usable."""
    words = {"model": {"type": "WordPiece", "vocab": {"a": 0}}, "decoder": {"type": "WordPiece", "prefix": "##"}}
    (folder / "tokenizer.json").write_text(json.dumps(words))
    for args, word in (
        (["check", "order.json", "good.json", "-t", "tokenizer.json", "--eos", "1"], "WordPiece"),
        (["vocab", "tokenizer.json", "--eos", "1"], "WordPiece"),
        (["verify", "nowhere://store"], "nowhere://store"),
        (["precompute", "order.json", "-t", "bytes", "-o", "nowhere://store"], "nowhere://store"),
    ):
        error = machine(folder, *args, code=4)["error"]
        assert error["type"] == "InputError" and word in error["message"] and "remedy" not in error


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
    drawn = machine(folder, "sample", r"pattern:[a-f]{2}-\d+", "-n", "5", "--seed", "3", "--flags", "a")
    assert all(re.fullmatch(r"[a-f]{2}-[0-9]+", s["text"]) and s["confirmed"] for s in drawn["samples"])
    assert machine(folder, "vocab", "bytes", "--find", "a")["found"] == {"a": [97]}
    timed = machine(folder, "bench", "order.json", "--walks", "2", "--repeat", "2")
    assert timed["figures"]["mask"]["p50"] > 0 and timed["positions"] > 4


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


def automaton(pattern):
    index = interlock.Index.from_regex(pattern, byte_vocabulary())
    return characters(*bytewise(index.automaton(1000)))


def accepts(graph, text):
    """Whether a graph of single characters or of runs accepts a text."""
    # A state, what was read, and how often its counted loop was taken.
    at = [(0, 0, 0)]
    for state, read, taken in at:
        if read == len(text) and state in graph.accepting:
            return True
        for e in graph.edges:
            if e.src != state or e.most and taken == e.most:
                continue
            taken_there = taken + 1 if e.most else 0
            if e.run and text.startswith(e.run, read):
                at.append((e.dst, read + len(e.run), taken_there))
            elif not e.run and read < len(text) and any(low <= ord(text[read]) <= high for low, high in e.ranges):
                at.append((e.dst, read + 1, taken_there))
    return False


@pytest.mark.parametrize(
    "pattern",
    [
        "(GET|POST) /[a-z]+( HTTP/1[.][01])?",
        "é[à-ü]?|日本.*",
        "(ab)*c",
        "aa?a?b",
        "x",
        "/?[a-z]{0,5}",
        "([a-c]{0,4};)*x?",
        "[a-c]{2,6}(b;)?",
    ],
)
def test_drawn_automata_accept_what_the_pattern_does(pattern):
    full = automaton(pattern)
    short = jumps(counted(full))
    assert len(short.states) <= len(full.states)
    texts = [
        "GET /x",
        "POST /ab HTTP/1.0",
        "GET ",
        "é",
        "éà",
        "日本",
        "日本\U0001f600 x",
        "日",
        "c",
        "abc",
        "ababc",
        "aab",
        "b",
        "x",
        "",
        "abcab",
        "abcabc",
        "abca;bcab;x",
        "abcab;",
        "/abcde",
        "/abcdef",
        "cb;",
    ]
    for text in texts:
        expected = re.fullmatch(pattern, text) is not None
        assert (accepts(full, text), accepts(short, text)) == (expected, expected), text


def test_forced_runs():
    short = jumps(automaton("(GET|POST) /[a-z]+( HTTP/1[.][01])?"))
    assert sorted((e.run, e.forced) for e in short.edges if e.run) == [(" HTTP/1.", 7), ("GET /", 4), ("POST /", 5)]
    assert [label(e) for e in automaton('[^"]|é').edges] == ['any but "']
    assert [label(e) for e in automaton("[a-z0-9_]").edges] == ["0-9 _ a-z"]


def test_counted_characters_are_one_state():
    short = counted(automaton("/[a-z]{0,40}(;|$)"))
    assert {(e.src, e.dst, label(e)) for e in short.edges} == {
        (0, 1, "/"),
        (1, 1, "a-z, at most 40 times"),
        (1, 2, ";"),
    }
    after_one = counted(automaton("0{1,30}x?"))
    assert {label(e) for e in after_one.edges} == {"0", "0, at most 29 times", "x"}
    # How many there must be is no choice, what may follow depends on how many there were, or they are too few.
    for pattern in ["[ab]{30}", "[a-z]{0,40}x", "a{0,2}"]:
        graph = automaton(pattern)
        assert len(counted(graph).states) == len(graph.states), pattern


@pytest.mark.parametrize(
    "pattern", ["(GET|POST) /[a-z]+( HTTP/1[.][01])?", "([ab]c|d[ef]g|h)*x|y{3}", "(a|b)*a(a|b){5}"]
)
def test_labels_do_not_overlap(pattern):
    drawing = ElementTree.fromstring(svg(automaton(pattern), pattern))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
        for r in drawing.iter(space + "rect")
        if r.get("class")
    ]
    assert len(boxes) >= len(automaton(pattern).edges) - 1
    for i, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
        for circle in drawing.iter(space + "circle"):
            cx, cy, r = (float(circle.get(k)) for k in ("cx", "cy", "r"))
            assert not (x - r < cx < x + w + r and y - r < cy < y + h + r), "a label covers a state"


def test_edges_that_close_no_circle_point_to_the_right():
    edges = [(0, 1), (0, 2), (1, 3), (3, 2), (2, 4), (4, 3), (4, 4), (4, 5), (0, 5)]
    placed = layered(6, edges, [20.0] * len(edges), 12.0, 10.0, 8.0)
    x = [placed.states[s].x for s in range(6)]
    assert [edge for edge in edges if x[edge[0]] >= x[edge[1]]] == [(4, 3), (4, 4)]


def test_draw(folder):
    made = machine(folder, "draw", 'schema:{"enum": ["<a>", "b"]}', "-o", "a.html")
    assert made["compressed_states"] < made["states"]
    text = (folder / "a.html").read_text()
    assert text.count("<svg") == 2 and "&lt;a&gt;" in text and "<a>" not in text
    assert machine(folder, "draw", "pattern:a|b", "-o", "a.svg", "--form", "states")["states"] == 2
    ElementTree.parse(folder / "a.svg")
    assert "LimitError" in run(folder, "draw", "order.json", "-o", "b.svg", "--max-states", "9", code=3).stderr
    nested = 'schema:{"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}'
    assert "recurses" in run(folder, "draw", nested, "-o", "b.svg", "--max-states", "99", code=3).stderr
    assert not (folder / "b.svg").exists()
    run(folder, "draw", "pattern:a", "-o", "a.png", code=2)


def test_help_teaches(folder):
    assert f"interlock {interlock.__version__}" in run(folder, "--version").stdout
    for command in ("", "compile", "inspect", "check", "sample", "diff", "draw", "vocab", "bench"):
        text = run(folder, *command.split(), "--help").stdout
        assert "exit codes:" in text and f"\n  interlock {command}" in text


def wait_until_it_catches(child, number):
    """Until the command has its handler for a signal, as the kernel says; for a second where it says nothing."""
    status = Path(f"/proc/{child.pid}/status")
    for _ in range(3000):
        if not status.exists():
            return time.sleep(1.0)
        caught = int(status.read_text().partition("SigCgt:")[2].split()[0], 16)
        if caught >> (number - 1) & 1:
            return None
        time.sleep(0.01)
    raise AssertionError("the command never caught the signal")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(folder, number, code):
    before = sorted(folder.iterdir())
    command = [*COMMAND, "sample", "order.json", "-n", "1000000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        # Its handler of SIGTERM is the command's own; that of SIGINT is Python's from the start.
        wait_until_it_catches(child, signal.SIGTERM)
        time.sleep(0.2)
        child.send_signal(number)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (code, "", "interlock: interrupted\n")
    assert sorted(folder.iterdir()) == before


def test_what_an_interrupted_command_was_writing_is_removed(tmp_path):
    left = []

    def fill(partial):
        # Native code renames such a file to the name that it was given.
        partial.with_name(f"{partial.name}.{os.getpid()}.0.tmp").write_bytes(b"half")
        files.interrupted()
        left.extend(tmp_path.iterdir())
        partial.write_bytes(b"whole")

    files.write(tmp_path / "a[1].index", fill)
    assert left == [] and [path.name for path in tmp_path.iterdir()] == ["a[1].index"]


def test_the_reader_goes_away(folder):
    script = shlex.join([*COMMAND, "sample", "order.json", "-n", "500"]) + " | head -n 1; exit ${PIPESTATUS[0]}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 141) and done.stderr == ""


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("inspect order.json >&-", 4, "the standard output is closed"),
        ("inspect order.json --json >&-", 4, "the standard output is closed"),
        ("inspect order.json > /dev/full", 4, "the standard output: No space left on device"),
        ("inspect order.json --json > /dev/full", 4, "the standard output: No space left on device"),
        ("--help > /dev/full", 4, "the standard output: No space left on device"),
        ("--version >&-", 4, "the standard output is closed"),
        ("inspect absent.json --json > /dev/full", 4, "absent.json: No such file or directory"),
        ("nothing --json > /dev/full", 4, "the standard output: No space left on device"),
        ("check order.json - <&-", 4, "the standard input is closed"),
        ("check order.json bad.json 2>&-", 1, ""),
        ("inspect absent.json 2>&-", 4, ""),
        ("inspect absent.json >&- 2>&-", 4, ""),
        ("inspect absent.json 2> /dev/full", 4, ""),
        ("inspect absent.json > /dev/full 2>&1", 4, ""),
        ("inspect 'pattern:a(b' 2> /dev/full", 3, ""),
        ("inspect --nothing 2> /dev/full", 2, ""),
        ("inspect absent.json 2>&1 | true; exit ${PIPESTATUS[0]}", 4, ""),
        ("inspect --nothing 2>&1 | true; exit ${PIPESTATUS[0]}", 2, ""),
    ],
)
def test_streams_that_are_closed_or_full(folder, command, code, said):
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    line = f"{shlex.join(COMMAND)} {command}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr and "Exception" not in done.stderr
    assert (said == "") == (done.stderr == "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_remark_that_cannot_be_said_changes_nothing(folder):
    line = f"{shlex.join(COMMAND)} sample pattern:a --most 0 --json 2> /dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["not_confirmed"]) == (1, 1)


def test_pointers():
    for prefix, pointer in (
        (b"", ""),
        (b'{"a', ""),
        (b'{"a": [1, {"b/c": ', "/a/1/b~1c"),
        (b'{"a": [1, {"b": 2}', "/a/1"),
        (b'{"a": "x,{[", ', ""),
        (rb'{"a\"": ', r"/a\""),
    ):
        assert pointer_at(prefix) == pointer


def test_extracting_keeps_numbers_and_order():
    text = extract(b'{"schema": {"b": 1.50, "a": [1e400, "1", true, null, 123456789012345678901234567890]}}', "schema")
    assert text == '{"b":1.50,"a":[1e400,"1",true,null,123456789012345678901234567890]}'


def test_documented_examples(folder):
    """The commands of docs/cli.md print what it says; ``$ echo $?`` lines are the exit code before."""
    blocks = re.findall(r"```console\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        code = 0
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if line == "echo $?":
                assert expected == f"{code}\n"
                continue
            line = line.replace("interlock ", shlex.join(COMMAND) + " ", 1)
            done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60)
            code = done.returncode
            assert done.stdout + done.stderr == expected, line
