"""Streams, colours and signals of the command line, mostly of processes of their own."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import COMMAND, PACKAGE, run

from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.style import Line, wrapped


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
    assert b"\x1b" not in plain and b"\x1b[31;1mrefused\x1b[0m" in painted
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


def interrupted(folder, number, code, *options):
    """What a long command printed that a signal ended."""
    command = [*COMMAND, "sample", "order.json", "-n", "1000000", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        # Its handler of SIGTERM is the command's own; that of SIGINT is Python's from the start.
        wait_until_it_catches(child, signal.SIGTERM)
        time.sleep(0.2)
        child.send_signal(number)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (code, "interlock: interrupted\n")
    return out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(folder, number, code):
    before = sorted(folder.iterdir())
    out = interrupted(folder, number, code)
    assert all(json.loads(line) for line in out.splitlines())
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_with_json(folder, number, code):
    out = interrupted(folder, number, code, "--json")
    assert json.loads(out)["error"]["type"] == "Interrupted"


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot stop a process")
def test_ctrl_c_ends_both_sides_of_a_pipe(folder):
    """That the other side wrote nothing is not said then."""
    for _ in range(5):
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [*COMMAND, "check", "order.json", "--lines", "-"]
        with subprocess.Popen(command, cwd=folder, text=True, **pipes) as child:
            wait_until_it_catches(child, signal.SIGTERM)
            time.sleep(0.2)
            # Both reach it at the same time.
            child.send_signal(signal.SIGSTOP)
            child.send_signal(signal.SIGINT)
            child.stdin.close()
            child.send_signal(signal.SIGCONT)
            child.wait(timeout=20)
            out, err = child.stdout.read(), child.stderr.read()
        assert (child.returncode, out, err) == (130, "", "interlock: interrupted\n")


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
    assert (done.returncode, done.stderr) == (141, "")
    assert json.loads(done.stdout)


def test_the_reader_of_json_lines_goes_away(folder):
    (folder / "many.jsonl").write_text('{"item": "tea", "count": 0}\n' * 2000)
    line = shlex.join([*COMMAND, "check", "order.json", "many.jsonl", "--lines", "--json"])
    script = f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (141, "") and json.loads(done.stdout)["line"] == 1


@pytest.mark.parametrize(
    "locale",
    [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["latin-1", "ascii"],
)
def test_pipes_are_utf_8_in_every_locale(folder, locale):
    """The same bytes as elsewhere, and each sample is one line."""
    (folder / "words.choices").write_text("\u00e9\n\u535a\n", encoding="utf-8")
    for args in (
        ["sample", 'schema:{"type": "string"}', "--wild", "-n", "20"],
        ["sample", "pattern:(?s).{5}", "--wild", "-n", "20"],
        ["check", "choices:\u00e9,\u535a", "--text", "\u535b"],
        ["draw", "words.choices", "--format", "dot", "-o", "-"],
    ):
        command = [*COMMAND, *args]
        shown = subprocess.run(command, cwd=folder, capture_output=True, env=os.environ | locale, timeout=60)
        usual = subprocess.run(
            command, cwd=folder, capture_output=True, env=os.environ | {"PYTHONUTF8": "1"}, timeout=60
        )
        assert (shown.returncode, shown.stdout) == (usual.returncode, usual.stdout), shown.stderr
        if args[0] == "sample":
            assert len(shown.stdout.decode("utf-8").split("\n")) == 21


def test_samples_come_as_they_are_drawn(folder):
    """The first line is there long before the last one is drawn."""
    command = [*COMMAND, "sample", "order.json", "-n", "1000000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        first = child.stdout.readline()
        child.kill()
        child.communicate(timeout=20)
    assert json.loads(first)


SCRIPT = "import sys\nfrom interlock.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("script", [True, False])
def test_ctrl_c_while_it_is_being_imported(folder, script):
    """From the moment at which Python runs any code of the package, there is no traceback."""
    (folder / "bin").mkdir()
    (folder / "bin" / "interlock").write_text(SCRIPT)
    # A numpy that says that its import has begun, and takes its time.
    (folder / "slow").mkdir()
    (folder / "slow" / "numpy.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, str(folder / "bin" / "interlock"), "-V"] if script else [*COMMAND, "-V"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "slow"), str(PACKAGE)])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as child:
        assert child.stdout.readline() == "importing\n"
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=20)
    assert (child.returncode, err) == (130, "interlock: interrupted\n")


def test_importing_the_package_changes_no_handler_elsewhere():
    code = "import signal, interlock; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_command_in_this_process_leaves_the_handler_as_it_was(folder):
    before = signal.getsignal(signal.SIGINT)
    run(folder, "inspect", "pattern:a")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_lines_fit_the_terminal(folder, columns):
    """Words that are longer than it, and examples, are not cut."""
    environment = {**os.environ, "COLUMNS": str(columns)}
    (folder / "long.json").write_text(json.dumps({"item": "x" * 300, "count": 0}))
    for args in ([], ["check", "--help"], ["inspect", "order.json"], ["check", "order.json", "long.json"]):
        done = subprocess.run(
            [*COMMAND, *args], cwd=folder, capture_output=True, text=True, env=environment, timeout=60
        )
        for line in done.stdout.splitlines():
            is_whole = line.lstrip().startswith(("interlock ", "fingerprint", "usage"))
            longest = max(map(len, line.split()), default=0)
            assert len(line) <= columns or is_whole or longest > 30, line


def test_what_people_copy_is_not_cut_where_the_terminal_ends(folder):
    text = "some words that are far longer than a line of this terminal"
    for name, value in (("old", text), ("new", text + " is")):
        (folder / name).mkdir()
        schema = {"properties": {"a key": {"const": value}}, "required": ["a key"], "additionalProperties": False}
        (folder / name / "a.json").write_text(json.dumps(schema))
    environment = {**os.environ, "COLUMNS": "60"}
    command = [*COMMAND, "diff", "old", "new"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=60)
    lines = [line.strip().rstrip(";") for line in done.stdout.splitlines()]
    assert json.dumps({"a key": text}, separators=(",", ":")) in lines
    assert json.dumps({"a key": text + " is"}, separators=(",", ":")) in lines
    assert "only the second accepts" in lines


def test_where_a_line_may_be_cut():
    def cut(text, width=12):
        return list(map(str, wrapped(Line(text), width)))

    assert cut("one two three four") == ["one two", "three four"]
    assert cut('one "two three four" five') == ["one", '"two three four"', "five"]
    assert cut('one {"a b": ["c d", {}]} five') == ["one", '{"a b": ["c d", {}]}', "five"]
    assert cut(r'one "a \" b c d e f g" five') == ["one", r'"a \" b c d e f g"', "five"]
    # What does not come in pairs is no text and no JSON: single bytes are named so, too.
    assert cut("could follow: [ { a-z more") == ["could", "follow: [ {", "a-z more"]
    assert cut('it has a " in it, alone') == ['it has a "', "in it, alone"]


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
def test_a_note_that_cannot_be_said_changes_nothing(folder):
    line = f"{shlex.join(COMMAND)} sample pattern:a --wild --most 0 --json 2> /dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["not_confirmed"]) == (1, 1)
