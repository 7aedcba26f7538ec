"""Rules that hold for every command: folders in the place of files, ``--quiet``, words for what is forced."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from command_line import machine, run

import interlock.cli
import interlock.cli.commands.draw
from interlock.cli.arguments.command_table import COMMANDS
from interlock.cli.terminal.output import Output, Progress
from interlock.cli.sources.overwriting import WRITTEN
from interlock.cli.arguments.parser import FILES as NAMES_OF_FILES
from interlock.cli.arguments.parser import command_parser
from interlock.cli.terminal.suggest import SYNONYMS

FOLDERS = [
    ["check", "schemas", "good.json"],
    ["check", "order.json", "good.json", "-t", "schemas"],
    ["check", "order.json", "good.json", "--junit", "schemas"],
    ["check", "schema:@schemas", "good.json"],
    ["inspect", "order.json", "-t", "schemas"],
    ["inspect", "list.gbnf", "--grammar", "a=schemas"],
    ["sample", "schemas"],
    ["sample", "order.json", "-t", "schemas"],
    ["draw", "schemas", "-o", "a.svg"],
    ["draw", "order.json", "-o", "schemas"],
    ["draw", "order.json", "--format", "svg", "-o", "schemas"],
    ["trace", "schemas", "good.json"],
    ["trace", "order.json", "schemas"],
    ["trace", "order.json", "good.json", "-t", "schemas"],
    ["trace", "order.json", "--logprobs", "schemas"],
    ["trace", "order.json", "good.json", "-o", "schemas"],
    ["diff", "schemas", "order.json"],
    ["diff", "order.json", "schemas"],
    ["compile", "schemas", "-t", "bytes", "-o", "a.index"],
    ["compile", "order.json", "-t", "schemas", "-o", "a.index"],
    ["compile", "order.json", "-t", "bytes", "-o", "schemas"],
    ["precompute", "schemas", "-t", "schemas", "-o", "store"],
    ["precompute", "schemas", "-t", "bytes", "-o", "store", "--report", "schemas"],
    ["vocab", "schemas"],
    ["vocab", "bytes", "-o", "schemas"],
    ["bench", "schemas"],
    ["bench", "order.json", "-t", "schemas"],
]
#: A file in the place of a folder.
FILES = [["verify", "order.json"], ["precompute", "schemas", "-t", "bytes", "-o", "order.json"]]
#: Arguments that name what is read. All others that name files are in ``WRITTEN``.
READ = {"given", "sources", "store", "tokenizer", "logprobs"}
#: Arguments that may be a folder: `check` reads the documents inside, and `inspect` the sources.
TAKE_FOLDERS = {("check", "given"), ("inspect", "source"), ("inspect", "more")}


@pytest.mark.parametrize("args", [*FOLDERS, *FILES], ids=" ".join)
def test_a_folder_in_the_place_of_a_file(shelf, args):
    before = sorted(path for path in shelf.rglob("*") if "store" not in path.parts)
    done = run(shelf, *args, code=4)
    assert "folder" in done.stderr or "a directory" in done.stderr, done.stderr
    # What shall be written, and a store, have no remedy but another name.
    given = vars(command_parser(args[0]).parse_args(args[1:]))
    is_written = any(given.get(name) is not None for name in WRITTEN)
    assert done.stdout == "" and (args in FILES or is_written or "try: " in done.stderr), done.stderr
    assert machine(shelf, *args, code=4)["error"]["message"]
    assert sorted(path for path in shelf.rglob("*") if "store" not in path.parts) == before


#: A call of each command, its exit code, and whether what it prints was asked for.
CALLS = {
    "check": (["order.json", "bad.json"], 1, False),
    "inspect": (["order.json"], 0, True),
    "sample": (["order.json"], 0, True),
    "draw": (["order.json", "-o", "a.svg"], 0, False),
    "trace": (["order.json", "good.json", "-o", "a.html"], 0, False),
    "diff": (["order.json", "pattern:a"], 1, False),
    "compile": (["slip.json", "-t", "bytes", "-o", "a.index"], 0, False),
    "precompute": (["schemas", "-t", "bytes", "-o", "store"], 0, False),
    "verify": (["store"], 0, False),
    "vocab": (["bytes"], 0, True),
    "bench": (["order.json", "--walks", "1", "--repeat", "1"], 0, True),
    "completion": (["bash"], 0, True),
    "help": (["check"], 0, True),
}


def test_other_tools_names_of_commands():
    """Each command has some, and none is the name of a command."""
    assert set(SYNONYMS.values()) == {*COMMANDS, "--version"} - {"help"}, "SYNONYMS of suggest.py has each command"
    assert not set(SYNONYMS) & set(COMMANDS)


#: What opens files by itself, and why it may.
OPENERS = {
    "atomic_files.py": "what the others use",
    "check_many.py": "whether files can be read at all, before anything is said",
    "precompute.py": "one line of a file after the other, and the journal, which grows",
    "streams.py": "nowhere, in the place of a closed stream",
    "trace.py": "whether the page that it would replace is one of its own",
    "vocabularies.py": "the first bytes of a file, to tell its kind",
    "worker.py": "one line of a file",
}


def test_files_of_users_are_opened_in_one_place():
    """So that ``-`` is the standard input everywhere, and nothing is written by halves."""
    opens = re.compile(r"(?<!os\.)\bopen\(|\.(?:read|write)_(?:bytes|text)\(")
    folder = Path(interlock.cli.__file__).parent
    texts = {
        path.name: path.read_text(encoding="utf-8").replace("atomic_files.write_text", "")
        for path in folder.rglob("*.py")
    }
    assert {name for name, text in texts.items() if opens.search(text)} == set(OPENERS)


def test_arguments_that_name_files_are_known():
    """Those that are not known to the parser are not refused where they are empty."""
    actions = [action for name in COMMANDS for action in command_parser(name)._actions]
    files = {action.dest for action in actions if action.metavar in ("FILE", "STORE", "SOURCES", "PACK")}
    assert files == set(NAMES_OF_FILES), "FILES of parser.py names each argument that names a file"


def test_whether_a_file_is_read_or_written_is_known():
    """A command may write over what it reads by an argument that is missing in ``WRITTEN``."""
    unsorted = set(NAMES_OF_FILES) ^ {*READ, *WRITTEN}
    assert not unsorted and not READ & set(WRITTEN), (
        "each argument that names a file is in WRITTEN of cli/sources/overwriting.py, if the command writes "
        f"the file, or else in READ of this test: {sorted(unsorted)}"
    )


def test_every_file_of_a_command_is_given_a_folder():
    takes = {
        (name, action.dest)
        for name in COMMANDS
        for action in command_parser(name)._actions
        if action.dest in NAMES_OF_FILES
    }
    given = set()
    for wrong, rows in (("schemas", FOLDERS), ("order.json", FILES)):
        for name, *args in rows:
            for argument, value in vars(command_parser(name).parse_args(args)).items():
                if value == wrong or isinstance(value, list) and wrong in value:
                    given.add((name, argument))
    missing = sorted(takes - given - TAKE_FOLDERS)
    assert not missing, f"FOLDERS has no row with `schemas` in the place of these arguments of commands: {missing}"


def test_quiet(shelf):
    """Only what was asked to be printed is; the exit code is the same, and JSON is JSON."""
    (shelf / "slip.json").write_text('{"type": "string", "minLenght": 3}')
    assert set(CALLS) == set(COMMANDS), "CALLS has a call of each command"
    for command, (args, code, shown) in CALLS.items():
        quiet = run(shelf, command, *args, "--quiet", code=code)
        assert quiet.stderr == "", (command, quiet.stderr)
        assert bool(quiet.stdout) == shown, (command, quiet.stdout)
        loud = run(shelf, command, *args, code=code)
        assert loud.stdout or loud.stderr, command
        assert json.loads(run(shelf, command, *args, "-q", "--json", code=code).stdout), command
    assert run(shelf, "check", "order.json", "good.json", "bad.json", "-q", code=1).stdout == ""
    assert run(shelf, "sample", "order.json", "-n", "2", "-q").stdout.count("\n") == 2
    assert run(shelf, "vocab", "bytes", "-o", "a.ilk", "-q").stdout == ""
    assert run(shelf, "vocab", "bytes", "-o", "a.ilk", "-q", "--token", "3").stdout != ""
    assert run(shelf, "trace", "order.json", "good.json", "-o", "-", "-q").stdout.startswith("<!doctype html>")
    # An error is no note.
    assert "absent.json" in run(shelf, "inspect", "absent.json", "-q", code=4).stderr


def test_forced_text_and_forced_tokens(folder):
    """Text and tokens that are forced have names of their own."""
    assert machine(folder, "inspect", "order.json")["start"]["forced_text"] == "{"
    assert "forced text:" in run(folder, "inspect", "order.json").stdout
    early = machine(folder, "check", "choices:yes,no", "--text", "y", "--trace", code=1)
    assert (early["forced_text"], early["trace"][0]["forced_text"]) == ("es", '""')
    traced = machine(folder, "trace", "choices:yes,no", "--text", "yes", "-o", "a.html")
    assert traced["forced_tokens"] == sum(step["forced"] for step in traced["steps"]) == 2
    assert "forced tokens:" in run(folder, "trace", "choices:yes,no", "--text", "yes", "-o", "a.html").stdout


def test_the_page_of_trace_on_the_standard_output(folder):
    run(folder, "trace", "order.json", "good.json", "-o", "a.html")
    for out in ("-", "/dev/stdout"):
        done = run(folder, "trace", "order.json", "good.json", "-o", out)
        assert done.stdout.startswith("<!doctype html>") and done.stdout.rstrip().endswith("</html>")
        assert not (folder / "-").exists() and not (folder / "trace.html").exists()
    assert run(folder, "trace", "order.json", "bad.json", "-o", "-", code=1).stdout.startswith("<!doctype html>")


def test_text_around_the_json(folder):
    for text, words in (
        ('Sure! {"item": "tea"}', "text stands before the JSON, which begins at line 1, column 7"),
        ('Here [1] it is:\n{"item": "t', "text stands before the JSON, which begins at line 2, column 1"),
        ('```json\n{"item": "tea"}\n```', "try: leave out the code fence"),
        ('{"item": "tea"} Bye!', "the document has ended; nothing may follow"),
        ("I cannot {do} that", "not JSON: a value is expected"),
        ("True", "JSON has no True; write true"),
    ):
        assert words in run(folder, "check", "order.json", "--text", text, code=1).stdout


def test_long_work_is_announced(folder, monkeypatch):
    """Before it begins, and not with ``--quiet``."""
    monkeypatch.setattr(interlock.cli.commands.draw, "FEW_STATES", 3)
    args = ["draw", "pattern:a[bc]d[ef]", "-o"]
    assert run(folder, *args, "a.svg").stderr == (
        "note: laying out 5 states may take minutes; as .mmd or .dot they take seconds\n"
    )
    assert run(folder, *args, "a.svg", "--quiet").stderr == "" == run(folder, *args, "a.dot").stderr
    assert run(folder, "draw", "order.json", "-o", "a.html").stderr == ""


def test_a_bar_is_there_before_the_first_step(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("compiling", 4, Output(json=False)):
        assert terminal.getvalue() == "\rcompiling [" + "." * 30 + "] 0/4"
    assert terminal.getvalue().endswith("\r") and terminal.getvalue().count("compiling") == 1
    terminal.truncate(0)
    with Progress("compiling", 4, Output(json=False, quiet=True)):
        assert terminal.getvalue() == ""


def test_forced_text_is_shortened_for_people(folder):
    word = "é" + "abcdefghi" * 30
    said = run(folder, "inspect", f"pattern:{word}").stdout
    line = next(line for line in said.splitlines() if line.startswith("forced text"))
    assert line.endswith('" and 212 bytes more') and len(line) < 100
    assert machine(folder, "inspect", f"pattern:{word}")["start"]["forced_text"] == word


@pytest.mark.parametrize("text", ["1000000000000000.0", "1000000000000000.5", "10000000000000.25"])
def test_the_digits_beside_multiple_of_are_the_reason(folder, text):
    """And not the exponent, which none of these has."""
    schema = 'schema:{"type": "number", "multipleOf": 0.25}'
    said = run(folder, "check", schema, "--text", text, code=1).stdout
    assert "beside multipleOf a number has a point only with at most 15 digits" in said
    assert "exponent" not in said
    rows = machine(folder, "inspect", schema)["report"]
    assert any(row["keyword"] == "multipleOf" and "15 digits" in row["reason"] for row in rows)
    assert "without exponent" in run(folder, "check", schema, "--text", "1e2", code=1).stdout
    assert machine(folder, "check", schema, "--text", "10000000000000.5")["accepted"]


def test_draw_says_what_makes_an_automaton_too_large(folder):
    """Where objects are open, no option makes fewer states, and none is proposed."""
    said = run(folder, "draw", 'schema:{"properties": {"a": {}}}', "--form", "jumps", "-o", "a.mmd", code=3).stderr
    assert "since any key may come beside the named ones" in said and "--whitespace" not in said
    assert '"additionalProperties": false' in said


def test_draw_says_how_much_is_left_out(folder):
    (folder / "many.json").write_text(json.dumps({"enum": [f"value {i}" for i in range(90)]}))
    assert "boxes, rows or values; --all draws them" in run(folder, "draw", "many.json", "-o", "m.mmd").stdout
    assert machine(folder, "draw", "many.json", "-o", "m.mmd", "--all")["left_out"] == 0
    assert "value 89" in (folder / "m.mmd").read_text()
    assert "--all is for structures" in run(folder, "draw", "pattern:a", "--all", "-o", "p.mmd", code=2).stderr


@pytest.mark.parametrize(("count", "more"), [(65535, "and 65475"), (70000, "and at least 65476")])
def test_of_what_must_follow_a_guide_knows_65536_bytes(tmp_path, count, more):
    told = run(tmp_path, "check", f"pattern:a{{{count}}}", "--text", "A", code=1).stdout
    for said in (told, run(tmp_path, "inspect", f"pattern:a{{{count}}}").stdout):
        assert f'" {more} bytes more\n' in said
