"""Help, the overview, and the commands of docs/cli.md."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, here, machine, run

import interlock
from interlock.cli.terminal import exits
from interlock.cli.arguments.command_table import COMMANDS


DOCS = Path(__file__).parents[4] / "docs" / "cli.md"


def test_overview(folder):
    text = run(folder).stdout
    assert all(f"\n  {name}" in text for name in ("check", "trace", "completion")) and "examples" in text


def test_help_teaches(folder):
    assert f"interlock {interlock.__version__}" in run(folder, "--version").stdout
    for command in ("", *COMMANDS):
        text = run(folder, *command.split(), "--help").stdout
        assert "exit codes:" in text
        assert f"\n  interlock {command}" in text, f"{command}.py begins with examples, each two blanks from the margin"


def test_help(folder):
    assert run(folder, "help").stdout == run(folder).stdout
    for name in COMMANDS:
        assert run(folder, "help", name).stdout == run(folder, name, "--help").stdout, name


def test_help_is_short_and_help_of_sources_is_whole(folder):
    for name in COMMANDS:
        text = run(folder, name, "--help").stdout
        assert text.startswith(f"usage: interlock {name} [options]")
        lines = len(text.splitlines())
        assert lines < 50, (
            f"interlock {name} --help has {lines} lines, and 49 fit: shorten a sentence in the docstring of "
            f"cli/commands/{name}.py, or a help there that takes two lines. What every command says (sources, "
            "vocabulary, exit codes) is in CODES of cli/arguments/parser.py and in cli/sources"
        )
    sources = run(folder, "help", "sources").stdout
    for word in ("order.json", "--whitespace W", "--limit NAME=N", "--take-all", "tag:TEXT"):
        assert word in sources
    assert "(interlock help sources): --schema-key, --no-unwrap, " in run(folder, "check", "--help").stdout
    assert "usage: interlock check" in run(folder, "--help", "check").stdout
    assert "of the random outputs" in run(folder, "bench", "--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_for_machines(folder, command):
    described = machine(folder, command, "--help", "--json")
    assert described == machine(folder, "help", command) and described["help"].startswith("usage: interlock " + command)
    names = {name for argument in described["arguments"] for name in argument["names"]}
    assert {"--json", "--quiet", "--help"} <= names


def test_help_for_machines_says_what_arguments_are(folder):
    by_name = {a["names"][-1]: a for a in machine(folder, "compile", "-h", "--json")["arguments"]}
    out, order, source = (by_name[name] for name in ("--out", "--property-order", "SOURCE"))
    assert (out["names"], out["value"], out["required"]) == (["-o", "--out"], "FILE", True)
    assert order["choices"] == ["schema", "any"] and not order["repeatable"] and source["required"]
    assert by_name["--limit"]["repeatable"] and by_name["--no-tables"]["value"] is None
    assert "(%" not in json.dumps(by_name) and "%%" not in json.dumps(by_name)
    assert set(machine(folder, "--json", "--help")["commands"]) == set(COMMANDS)
    assert machine(folder, "help", "exit-codes")["exit_codes"]["5"].startswith("diff")
    assert "did you mean check?" in machine(folder, "chek", "--help", code=2)["error"]["remedy"]
    # Behind --, it is a text.
    assert "usage" not in run(folder, "check", "choices:--help,b", "--json", "--text=b", "--quiet").stdout


def test_every_command_has_a_row_on_its_page():
    """In the table of docs/cli.md, in the order in which the program lists them."""
    table = DOCS.read_text(encoding="utf-8").partition("| command | does |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| \S.* \|$", table, re.MULTILINE)
    assert rows == list(COMMANDS), "docs/cli.md has a row for each command"


def test_exit_codes_are_documented_once(folder):
    """The table of docs/cli.md has the codes of ``help exit-codes``, and every ``--help`` has each of them."""
    table = DOCS.read_text(encoding="utf-8").partition("| code | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) == list(exits.MEANINGS)
    for name in COMMANDS:
        said = run(folder, name, "--help").stdout.rpartition("exit codes: ")[2]
        assert set(re.findall(r"\b\d+\b", said)) == set(re.findall(r"\d+", " ".join(exits.MEANINGS)))


def test_documented_examples(folder):
    """The commands of docs/cli.md print what it says; ``$ echo $?`` lines are the exit code before."""
    page = DOCS.read_text(encoding="utf-8")
    for name, content in re.findall(r"`(\w+\.json)`:\n\n```json\n(.*?)```", page, re.DOTALL):
        (folder / name).write_text(content)
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        code = 0
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if line == "echo $?":
                assert expected == f"{code}\n"
                continue
            code, printed = run_line(folder, line)
            assert printed == expected, line


def run_line(folder, line):
    """The exit code and what is printed. In this process, unless the line needs a shell or prints on both streams."""
    unquoted = re.sub(r"'[^']*'", "", line)
    if line.startswith("interlock ") and not set("|<>;&$*?[~`") & set(unquoted):
        done = here(folder, *shlex.split(line)[1:])
        if not (done.stdout and done.stderr):
            return done.returncode, done.stdout + done.stderr
    line = line.replace("interlock ", shlex.join(COMMAND) + " ", 1)
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(["bash", "-c", line], cwd=folder, text=True, timeout=60, **both)
    return done.returncode, done.stdout
