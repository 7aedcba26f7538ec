"""Completion scripts, in the shells that are installed."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from interlock.cli.arguments.command_table import COMMANDS
from interlock.cli.commands.completion import SHELLS, bash, commands, fish, zsh


def test_scripts_know_every_command_and_option():
    known = commands()
    assert {"check", "trace", "completion"} <= set(known)
    for make in (bash, zsh, fish):
        script = make(known)
        for name, (title, options) in known.items():
            assert name in script and title
            for option in options:
                longs = [word for word in option.names if word.startswith("--")]
                assert all(word in script or f"-l {word[2:]}" in script for word in longs)


def test_the_script_of_zsh():
    """Its text, where zsh itself is not installed: a tag, each command once, and values, files and flags as options."""
    script = zsh(commands())
    lines = [line.strip() for line in script.splitlines()]
    assert lines[0] == "#compdef interlock" and lines[-1] == '_interlock "$@"'
    for name in COMMANDS:
        assert sum(line.startswith(f"'{name}:") for line in lines) == 1 and lines.count(f"{name})") == 1
    check = script.partition("\n        check)\n")[2].partition(";;")[0]
    assert "'--property-order[" in check and "]:value:(schema any)'" in check and "'*:file:_files'" in check
    assert "'--lines[" in check and "'--tokenizer[" in check and "]:value:_files'" in check
    # An apostrophe ends a word in single quotes: each is written so that the word goes on.
    assert all(line.replace("'\\''", "").count("'") % 2 == 0 for line in lines)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_them(shell):
    done = subprocess.run(
        [sys.executable, "-m", "interlock.cli", "completion", shell], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout == {"bash": bash, "zsh": zsh, "fish": fish}[shell](commands())


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_read_them(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text({"bash": bash, "zsh": zsh, "fish": fish}[shell](commands()))
    done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    (tmp_path / "script").write_text(bash(commands()))
    (tmp_path / "order one.json").write_text("{}")

    def completed(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        words_and_place = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}"
        line = f"source ./script; {words_and_place}; _interlock; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60
        ).stdout.splitlines()

    assert completed("interlock", "ch") == ["check"]
    assert completed("interlock", "check", "--whi") == ["--whitespace"]
    assert completed("interlock", "check", "--formats", "") == ["assert", "annotate"]
    assert completed("interlock", "check", "ord") == ["order one.json"]
    assert completed("interlock", "completion", "z") == ["zsh"]
    assert completed("interlock", "completion", "") == list(SHELLS)
    assert completed("interlock", "help", "") == [*COMMANDS, "sources", "exit-codes"]
    assert completed("interlock", "check", "--whitespace", "") == ["flexible", "compact", "spaced"]
    assert completed("interlock", "inspect", "--limit", "max_de") == ["max_depth="]
    assert completed("interlock", "check", "--formats", "=") == ["assert", "annotate"]
    assert completed("interlock", "check", "--formats", "=", "an") == ["annotate"]
    assert completed("interlock", "inspect", "--limit", "=", "max_de") == ["max_depth="]
    assert completed("interlock", "--json", "ch") == ["check"]
    assert completed("interlock", "check", "") == ["order one.json", "script"]
    assert completed("interlock", "draw", "--format", "") == ["svg", "html", "mmd", "dot"]


def test_fish_completes(tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    (tmp_path / "script").write_text(fish(commands()))

    def completed(line):
        done = subprocess.run(
            ["fish", "-c", f"source ./script; complete -C '{line}'"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        return [row.partition("\t")[0] for row in done.stdout.splitlines()]

    assert completed("interlock ch") == ["check"]
    assert completed("interlock check --whi") == ["--whitespace"]
    assert set(completed("interlock check --formats ")) == {"assert", "annotate"}
    assert completed("interlock check --limit max_de") == ["max_depth="]


def test_zsh_completes(tmp_path):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    (tmp_path / "_interlock").write_text(zsh(commands()))
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    with subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=other,
        stdout=other,
        stderr=other,
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
    ) as child:
        os.close(other)
        seen = b""

        def until(mark, patience=40.0):
            nonlocal seen
            os.set_blocking(main, False)
            end = time.monotonic() + patience
            while mark not in seen:
                assert time.monotonic() < end, seen
                try:
                    seen += os.read(main, 4096)
                except BlockingIOError:
                    time.sleep(0.05)
            seen = b""

        os.write(main, b"PS1=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; echo rea''dy\n")
        until(b"ready\r\n")
        os.write(main, b"interlock check --whi\t")
        until(b"--whitespace")
        os.write(main, b"\x15interlock inspect --limit max_dep\t")
        until(b"max_depth=")
        os.write(main, b"\x15interlock comple\t")
        until(b"completion")
        child.kill()
    os.close(main)
