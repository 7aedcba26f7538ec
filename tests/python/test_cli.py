"""The command line, here and as a subprocess: normal use, ``--json``, bad input, exit codes, interruption."""

import contextlib
import io
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
import interlock.cli
import interlock.cli.app
import interlock.explain
from interlock.cli import atomic_files
from interlock.cli.sources import extract

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


def here(folder, *args, stdin=None):
    """A command in this process, which saves the import of a new one; the rest is what a process of its own sees."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), encoding="utf-8")
    before, handler = (sys.stdin, sys.argv, Path.cwd()), signal.getsignal(signal.SIGTERM)
    os.chdir(folder)
    try:
        sys.stdin, sys.argv = given, ["interlock", *args]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = interlock.cli.main()
            except SystemExit as ended:
                code = ended.code or 0
    finally:
        sys.stdin, sys.argv = before[:2]
        os.chdir(before[2])
        signal.signal(signal.SIGTERM, handler)
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(args, code, *texts)


def run(folder, *args, code=0, stdin=None):
    done = here(folder, *args, stdin=stdin)
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


def test_what_was_meant(folder):
    for args, code, words in (
        (["chek", "a"], 2, ["no command is named 'chek'", "did you mean check?"]),
        (["check", "order.json", "good.json", "--whitespce", "compact"], 2, ["did you mean --whitespace?"]),
        (["check", "order.json", "good.json", "--whitespace", "compac"], 2, ["did you mean compact?"]),
        (["check", "order.json", "good.json", "--formats", "asert"], 2, ["did you mean assert?"]),
        (["check", "ordr.json", "good.json"], 4, ["did you mean order.json?"]),
        (["check", "order.json", "god.json"], 4, ["did you mean good.json?"]),
        (["check", "order", "good.json"], 2, ["did you mean order.json?"]),
        (["inspect", "patern:abc"], 2, ["did you mean pattern:abc?"]),
        (["inspect", "schema:order.json"], 3, ["is this a file?", "order.json"]),
        (["inspect", "order.json", "--limit", "max_dept=3"], 2, ["did you mean max_depth?"]),
    ):
        said = run(folder, *args, code=code)
        assert all(word in said.stderr for word in words), said.stderr
        assert not said.stdout
    assert machine(folder, "chek", code=2)["error"]["remedy"] == "did you mean check?"


def test_places_and_ways_on(folder):
    for source, words in (
        ("pattern:a(b", ["line 1, column 2", "\n    a(b\n     ^\n"]),
        ("pattern:/^a$/i", ["leave out the slashes", "--flags i"]),
        ("pattern:(?P<a>x)(?P=a)", ["column 9", "write out"]),
        ("pattern:(?R)", ["$ref"]),
        ('schema:{"type": "object",}', ["column 19", "comma before }"]),
        ('schema:{"a": {}, "properties": {"a": {"type": "strin"}}}', ["              ^~~~~~~\n"]),
        ('schema:{"properties": {"a": {"pattern": "x(?i)y"}}}', ["ECMA-262, which has no (?i)", "column 36"]),
        ('schema:{"type": "integer", "minimum": 10, "maximum": 1}', ["minimum 10 and maximum 1", "contradict"]),
        (
            'schema:{"type": "object", "properties": {"a": {}}, "required": ["b"], "additionalProperties": false}',
            ['required ["b"] and additionalProperties false'],
        ),
    ):
        said = run(folder, "inspect", source, code=3).stderr
        assert all(word in said for word in words), said
        assert "--on-unsupported" not in said
    helped = run(folder, "inspect", 'schema:{"type": "array", "not": {"uniqueItems": true}}', code=3).stderr
    assert "try: --on-unsupported warn" in helped
    # The option is named where it leads on, and nowhere else.
    stays = run(folder, "inspect", 'schema:{"$ref": "https://example.org/x"}', code=3).stderr
    assert "try: --on-unsupported" not in stays


def test_slips_in_schemas_and_envelopes(folder):
    slip = {"type": "string", "minLenght": 3, "x-order": 1}
    (folder / "slip.json").write_text(json.dumps(slip))
    for args in (["inspect"], ["check", "--text", '"a"'], ["compile", "-t", "bytes", "-o", "a.ilk"]):
        done = run(folder, args[0], "slip.json", *args[1:])
        assert "did you mean minLength?" in done.stderr and "x-order" not in done.stderr
    assert "did you mean minLength?" in run(folder, "inspect", "slip.json", "--quiet").stdout
    assert run(folder, "inspect", "slip.json", "--quiet").stderr == ""
    unknown = machine(folder, "inspect", "slip.json")["unknown_keywords"]
    assert [(u["keyword"], u["suggestion"]) for u in unknown] == [("minLenght", "minLength"), ("x-order", "")]
    wrapped = {"type": "json_schema", "json_schema": {"name": "order", "strict": True, "schema": ORDER}}
    (folder / "envelope.json").write_text(json.dumps(wrapped))
    done = run(folder, "check", "envelope.json", "bad.json", code=1)
    assert "json_schema.schema" in done.stderr and "below minimum 1" in done.stdout
    assert machine(folder, "inspect", "envelope.json")["fingerprint"] != ""
    assert run(folder, "inspect", "envelope.json", "--no-unwrap", code=3).stderr.startswith("interlock: SchemaError")


def test_colours(folder):
    """Only where they are wanted; never in what is piped or is JSON."""
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    command = [*COMMAND, "check", "order.json", "bad.json"]

    def shown(*more, **variables):
        return subprocess.run(
            [*command, *more], cwd=folder, capture_output=True, env=environment | variables, timeout=60
        ).stdout

    plain = shown()
    painted = shown(FORCE_COLOR="1")
    assert b"\x1b" not in plain and b"\x1b[31;1mrefused:\x1b[0m" in painted
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", painted) == plain
    assert b"\x1b" not in shown(FORCE_COLOR="1", NO_COLOR="1") and b"\x1b" not in shown("--json", FORCE_COLOR="1")
    (folder / "escape.json").write_text('{"item": "\x1b[31m"}')
    assert (
        b"\x1b[31m"
        not in subprocess.run(
            [*COMMAND, "check", "order.json", "escape.json"],
            cwd=folder,
            capture_output=True,
            env=environment,
            timeout=60,
        ).stdout
    )


def test_a_terminal_has_colours(folder):
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    with subprocess.Popen([*COMMAND], cwd=folder, stdout=other, stderr=other, env=environment) as child:
        os.close(other)
        seen = b""
        try:
            while piece := os.read(main, 65536):
                seen += piece
        except OSError:  # The other end is closed.
            pass
        child.wait(60)
    os.close(main)
    assert child.returncode == 0 and b"\x1b[1mcheck" in seen


def test_overview(folder):
    text = run(folder).stdout
    assert all(f"\n  {name}" in text for name in ("check", "trace", "completion")) and "examples" in text


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


def test_help_teaches(folder):
    assert f"interlock {interlock.__version__}" in run(folder, "--version").stdout
    for command in (
        "",
        "compile",
        "inspect",
        "check",
        "sample",
        "diff",
        "draw",
        "trace",
        "completion",
        "vocab",
        "bench",
    ):
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
        atomic_files.interrupted()
        left.extend(tmp_path.iterdir())
        partial.write_bytes(b"whole")

    atomic_files.write(tmp_path / "a[1].index", fill)
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
    line = f"{shlex.join(COMMAND)} sample pattern:a --wild --most 0 --json 2> /dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["not_confirmed"]) == (1, 1)


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
            both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(["bash", "-c", line], cwd=folder, text=True, timeout=60, **both)
            code = done.returncode
            assert done.stdout == expected, line


SUMS = """start: sum
sum: sum "+" atom | atom
atom: NUMBER | "(" sum ")"
%import common.INT -> NUMBER
%ignore " "
"""


def test_grammars(folder):
    """A file of a grammar is a source of every command; its notation is that of the ending, the option or the text."""
    (folder / "sums.lark").write_text(SUMS)
    (folder / "sums.txt").write_text(SUMS)
    assert run(folder, "check", "sums.lark", "--text", "1 + (2)").stdout.startswith("accepted: 7 tokens")
    done = run(folder, "check", "sums.lark", "--text", "1+(2]", code=1)
    assert '"]" does not fit the grammar here' in done.stdout and "allowed there: space ) + 0-9" in done.stdout
    found = machine(folder, "check", "grammar:@sums.txt", "--text", "1+", code=1)
    assert found["ends_early"] and found["problems"][0]["keyword"] == "grammar"
    facts = machine(folder, "inspect", "sums.lark", "--lexer", "contextual")
    assert (facts["kind"], facts["syntax"], facts["lexer"], facts["rules"]) == ("grammar", "lark", "contextual", 3)
    assert facts["shortest_member"] is None and facts["language_size"] is None
    drawn = machine(folder, "sample", "sums.lark", "-n", "4")
    assert drawn["not_confirmed"] == 0 and all(sample["ended"] for sample in drawn["samples"])
    assert machine(folder, "sample", "sums.lark", "-n", "3", "--wild", "--length", "8")["not_confirmed"] == 0
    assert machine(folder, "bench", "sums.lark", "--walks", "2", "--repeat", "2")["positions"] > 0
    assert machine(folder, "draw", "sums.lark", "-o", "sums.mmd")["form"] == "structure"
    assert "atom" in (folder / "sums.mmd").read_text()
    assert "no finite automaton" in run(folder, "draw", "sums.lark", "-o", "s.svg", "--form", "states", code=2).stderr
    assert machine(folder, "trace", "sums.lark", "--text", "1+2", "-o", "sums.html")["complete"]
    assert machine(folder, "compile", "sums.lark", "-t", "bytes", "-o", "sums.ilk")


def test_numbers_that_say_nothing_are_refused(folder):
    for arguments in (["sample", "order.json", "-n", "-3"], ["bench", "order.json", "--walks", "0"]):
        assert "must be at least 1" in run(folder, *arguments, code=2).stderr
    assert "must be a whole number" in run(folder, "sample", "order.json", "-n", "x", code=2).stderr
    (folder / "empty").mkdir()
    assert "is it the folder of a store?" in run(folder, "verify", "empty").stderr


def test_structural_tags(folder):
    """A file whose type says so, and the prefix ``tag:``."""
    called = {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"const": 1}}}}
    parts = [{"type": "const_string", "value": "<call>"}, called, {"type": "const_string", "value": "</call>"}]
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": parts}}
    (folder / "tag.json").write_text(json.dumps(tag))
    for word in ("tag.json", "tag:@tag.json", "tag:" + json.dumps(tag)):
        assert run(folder, "check", word, "--text", '<call>{"a":1}</call>').stdout.startswith("accepted: 20 tokens")
    assert "does not fit" in run(folder, "check", "tag.json", "--text", '<call>{"a":2}</call>', code=1).stdout
    facts = machine(folder, "inspect", "tag.json")
    assert (facts["kind"], facts["start"]["forced"]) == ("structural_tag", "<call>{")
    drawn = machine(folder, "sample", "tag.json", "-n", "3")
    assert drawn["not_confirmed"] == 0 and all(sample["ended"] for sample in drawn["samples"])
    wrong = run(folder, "check", 'tag:{"type":"structural_tag","format":{"type":"nope"}}', "--text", "a", code=3)
    assert "StructuralTagError" in wrong.stderr and "/format" in wrong.stderr
    assert "not JSON" in run(folder, "check", "tag:{", "--text", "a", code=4).stderr
    assert "cannot be drawn" in run(folder, "draw", "tag.json", "--out", "tag.html", code=2).stderr


def test_what_grammars_name(folder):
    """Nothing is opened but what the arguments name."""
    (folder / "main.lark").write_text('start: "<" word @tail\n%import .words.word\n')
    (folder / "words.lark").write_text('word: "a" | "b"\n')
    (folder / "tail.lark").write_text('start: ">"\n')
    given = ["--import", "words=words.lark", "--grammar", "tail=tail.lark"]
    assert run(folder, "check", "main.lark", "--text", "<a>", *given).stdout.startswith("accepted")
    done = run(folder, "inspect", "main.lark", code=3)
    assert "GrammarError" in done.stderr and "--grammar NAME=FILE" in done.stderr
    done = run(folder, "inspect", "main.lark", *given[2:], code=3)
    assert "GrammarError" in done.stderr and "--import NAME=FILE" in done.stderr
    done = run(folder, "inspect", "words.lark", code=3)
    assert 'no rule "start"' in done.stderr and "--start RULE" in done.stderr
    assert "write NAME=FILE" in run(folder, "inspect", "main.lark", "--import", "words.lark", code=2).stderr
    assert machine(folder, "inspect", "main.lark", *given, "--start", "word")["start"]["allowed_tokens"] == 2


def test_refused_grammars(folder):
    """With line, column, excerpt and caret, once."""
    (folder / "bad.lark").write_text('start: a\na: "é" nme\nname: "x"\n')
    done = run(folder, "inspect", "bad.lark", code=3)
    assert done.stderr.count("nme") == 2 and 'did you mean "name"?' in done.stderr
    assert "line 2, column 8" in done.stderr and "\n" + " " * 17 + "^" in done.stderr
    error = machine(folder, "inspect", "bad.lark", code=3)["error"]
    assert (error["type"], error["line"], error["column"]) == ("GrammarError", 2, 8) and "\n" not in error["message"]
    assert "grammar:" in run(folder, "inspect", 'root ::= "a"', code=2).stderr


def test_precompute_takes_grammars(folder):
    (folder / "set").mkdir()
    (folder / "set" / "sums.lark").write_text(SUMS)
    (folder / "set" / "bad.lark").write_text("start: x\n")
    (folder / "set" / "a.json").write_text('{"type": "integer"}')
    found = machine(folder, "precompute", "set", "-t", "bytes", "-o", "store", "-j", "1", code=1)
    assert (found["sources"], found["refused"]) == (3, 1)
    rows = {row["name"]: row for row in map(json.loads, (folder / "store" / "report.jsonl").read_text().splitlines())}
    assert rows["sums.lark"]["ok"] and rows["bad.lark"]["error"]["type"] == "GrammarError"
    again = machine(folder, "precompute", "set", "-t", "bytes", "-o", "store", "-j", "1", code=1)
    assert again["refused"] == 1


SYNTAX = 'root ::= item ("," item)*\nitem ::= [a-z]+\n'
#: Mistakes: the arguments, the exit code, and what the message says.
MISTAKES = [
    (
        ["check", "good.json", "order.json"],
        2,
        "order.json is one: the source comes first, interlock check order.json good",
    ),
    (["check", "text.txt", "order.json"], 2, "text.txt is no source, and order.json is one: the source comes first"),
    (["check", "text.txt", "word.regex"], 2, "the source comes first, interlock check word.regex text.txt"),
    (["check", "good.json", "word.regex"], 2, "the source comes first, interlock check word.regex good.json"),
    (["trace", "good.json", "order.json"], 2, "the source comes first, interlock trace order.json good.json"),
    (["check", "order.json", '{"item": "tea"}'], 2, "is no file; the output itself is given with --text"),
    (["check", "word.regex", "tea"], 2, "'tea' is no file; the output itself is given with --text 'tea'"),
    (["trace", "order.json", "[1]"], 2, "is no file; the output itself is given with --text '[1]'"),
    (["check", "order.json", "goood.json"], 4, "did you mean good.json?"),
    (
        ["inspect", "order.json", "--flags", "i"],
        2,
        "--flags is for a pattern, and order.json is a JSON Schema: leave it out",
    ),
    (["inspect", "order.json", "--dialect", "python"], 2, "--dialect is for a pattern"),
    (["inspect", "order.json", "--syntax", "lark"], 2, "--syntax is for a grammar"),
    (["inspect", "order.json", "--start", "x"], 2, "--start is for a grammar"),
    (["inspect", "order.json", "--import", "a=b"], 2, "--import is for a grammar"),
    (
        ["inspect", "word.regex", "--whitespace", "compact"],
        2,
        "--whitespace is for a JSON Schema, and word.regex is a pattern",
    ),
    (["inspect", "word.regex", "--whitespace", "flexible"], 2, "--whitespace is for a JSON Schema"),
    (
        ["inspect", "choices:a,b", "--property-order", "any"],
        2,
        "--property-order is for a JSON Schema, and choices:... is",
    ),
    (["inspect", "word.regex", "--no-unwrap"], 2, "--no-unwrap is for a JSON Schema"),
    (["inspect", "word.regex", "--schema-key", "x"], 2, "--schema-key is for a JSON Schema"),
    (
        ["inspect", "list.gbnf", "--formats", "annotate"],
        2,
        "--formats is for a JSON Schema, and list.gbnf is a grammar",
    ),
    (
        ["inspect", "tag.json", "--spelling", "plain"],
        2,
        "--spelling is for a JSON Schema, and tag.json is a structural tag",
    ),
    (
        ["diff", "word.regex", "word.regex", "--document", "a=b"],
        2,
        "--document is for a JSON Schema, and each of the two is",
    ),
    (
        ["precompute", "schemas", "-t", "bytes", "-o", "s", "--flags", "i"],
        2,
        "--flags is for a pattern, and each source in",
    ),
    (["draw", "order.json", "-o", "a.svg", "--max-states", "9"], 2, "--max-states is for automata: leave it out"),
    (["inspect", "order.json", "--size", "300"], 2, "--eos and --size are for a tokenizer file"),
    (["inspect", "order.json", "--eos", "3"], 2, "--eos and --size are for a tokenizer file"),
    (["inspect", "regex:"], 2, "nothing stands behind regex:: write pattern:'[a-z]+' or pattern:@FILE"),
    (["inspect", "pattern:"], 2, "nothing stands behind pattern:"),
    (["inspect", "choices:"], 2, "nothing stands behind choices:: write choices:yes,no or choices:@FILE"),
    (["inspect", "schema:"], 2, "nothing stands behind schema:"),
    (["inspect", "schema:@"], 2, "nothing stands behind schema:@"),
    (["inspect", "regex:a("], 3, "missing ), unterminated subpattern"),
    (["inspect", "list.gbnf", "--syntax", "lark"], 3, "it looks like GBNF, and is read as Lark's notation (--syntax)"),
    (
        ["inspect", "order.index", "--whitespace", "compact"],
        2,
        "--whitespace cannot change order.index: it is compiled already",
    ),
    (["inspect", "order.index", "--limit", "max_depth=3"], 2, "--limit cannot change order.index"),
    (["inspect", "vocabulary.ilk"], 4, "vocabulary.ilk is a vocabulary and no index: give it with --tokenizer"),
    (["inspect", "torn.index"], 4, "torn.index is"),
    (["inspect", 'schema:{"$ref": "a.json"}'], 3, "--document URI=FILE gives a schema that $ref may reach"),
    (
        ["inspect", "schema:" + '{"not":' * 30 + "{}" + "}" * 30, "--limit", "max_depth=5"],
        3,
        "--limit max_depth=N raises it",
    ),
    (["inspect", "schemas"], 2, "schemas is a folder: name a file in it; interlock precompute takes a folder"),
    (["inspect", "order.json", "--foo"], 2, "try: interlock inspect --help"),
    (["sample", "order.json", "--seed", "x"], 2, "--seed: must be a whole number, not 'x'"),
    (["sample", "order.json", "-n", "0"], 2, "must be at least 1, not 0"),
    (["bench", "order.json", "--repeat", "1.5"], 2, "must be a whole number, not '1.5'"),
    (["vocab", "vocabulary.ilk", "--token", "-1"], 2, "must be at least 0, not -1"),
    (["inspect", "order.json", "-t", "vocabulary.ilk", "--size", "0"], 2, "must be at least 1, not 0"),
    (["diff", *['grammar:start: "(" start ")" | "x"'] * 2], 3, "interlock check walks single texts through a grammar"),
    (["check", "order.json"], 2, "what is checked is one of FILE, --text and --ids: interlock check order.json FILE"),
    (["check", "order.json", "good.json", "--text", "x"], 2, "what is checked is one of FILE, --text and --ids"),
    (["trace", "order.json"], 2, "what is traced is one of FILE, --text, --ids and --logprobs"),
    (["verify", "order.json"], 4, "order.json is no folder: a store is a folder that interlock precompute wrote"),
    (["sample", "grammar:start: <|x|>"], 4, "--tokenizer FILE gives the model's vocabulary"),
    (["compile", "order.json", "-t", "bytes", "-o", "schemas"], 4, "schemas: is a folder, not a file"),
    (["draw", "order.json", "-o", "a.png"], 2, "the name must end in .svg, .html, .mmd, .dot"),
    (["draw", "list.gbnf", "-o", "a.svg", "--form", "jumps"], 2, "a grammar has no finite automaton; leave it out"),
    (["help", "chek"], 2, "no command is named 'chek'; did you mean check?"),
    (["help", "xyzzy"], 2, "no command is named 'xyzzy'; there are check, inspect"),
]


@pytest.fixture
def shelf(folder):
    (folder / "text.txt").write_text("tea\n")
    (folder / "word.regex").write_text("[a-z]+\n")
    (folder / "list.gbnf").write_text(SYNTAX)
    (folder / "schemas").mkdir()
    (folder / "schemas" / "a.json").write_text(json.dumps(ORDER))
    tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]"}, "end": "</n>"}
    (folder / "tag.json").write_text(json.dumps({"type": "structural_tag", "format": tag}))
    run(folder, "compile", "order.json", "-t", "bytes", "-o", "order.index", "--whitespace", "compact")
    vocabulary = interlock.explain.byte_vocabulary()
    vocabulary.save(folder / "vocabulary.ilk")
    (folder / "torn.index").write_bytes((folder / "order.index").read_bytes()[:700])
    return folder


def test_mistakes_of_arguments(shelf):
    for args, code, words in MISTAKES:
        done = run(shelf, *args, code=code)
        assert words in done.stderr, (args, done.stderr)
        assert not re.search(r"Traceback|_core|Index\.|Limits\.|`documents`|on_unsupported=", done.stderr), done.stderr


def test_options_that_fit_one_of_two_sources(shelf):
    run(shelf, "diff", "word.regex", "order.json", "--flags", "a", "--whitespace", "compact", code=1)
    run(shelf, "check", "order.json", "good.json", "--whitespace", "flexible", "--formats", "assert")


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


def test_help(shelf):
    assert run(shelf, "help").stdout == run(shelf).stdout
    for name in interlock.cli.app.COMMANDS:
        assert run(shelf, "help", name).stdout == run(shelf, name, "--help").stdout, name


def test_precompute_takes_structural_tags(shelf):
    (shelf / "schemas" / "tag.json").write_text((shelf / "tag.json").read_text())
    done = machine(shelf, "precompute", "schemas", "-t", "bytes", "-o", "store", "-j", "1")
    assert (done["ok"], done["refused"], done["skipped"]) == (2, 0, 0)
    again = machine(shelf, "precompute", "schemas", "-t", "bytes", "-o", "store", "-j", "1")
    assert (again["ok"], again["skipped"]) == (2, 2)
