"""The command line imports the command that was given, and help imports none."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from interlock.cli import app
from interlock.cli.arguments.command_table import COMMANDS
from interlock.cli.arguments.parser import parser


def imported(*arguments):
    """The modules of the package that a run of the command imports."""
    code = (
        "import sys; sys.argv[0] = 'interlock'\nimport interlock.cli\n"
        "try: interlock.cli.main()\nexcept SystemExit: pass\n"
        "print(*[m for m in sys.modules if m.startswith('interlock.')], sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)])
def test_help_imports_no_command(arguments):
    shown, modules = imported(*arguments)
    assert shown
    assert not modules & {f"interlock.cli.commands.{name}" for name in COMMANDS}
    assert not [m for m in modules if m.startswith(("interlock.drawing", "interlock.explain", "interlock.generators"))]


@pytest.mark.parametrize("command", ["check", "vocab", "diff"])
def test_a_command_imports_no_other(command):
    shown, modules = imported(command, "--help")
    assert f"interlock {command}" in shown and "--json" in shown
    others = {f"interlock.cli.commands.{name}" for name in COMMANDS if name != command}
    assert not modules & others and "interlock.drawing" not in modules


def test_titles_are_those_of_the_files():
    folder = Path(app.__file__).parent
    files = {path.stem for path in (folder / "commands").glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS), "COMMANDS of command_table.py has a row for each file of commands"
    for name, title in COMMANDS.items():
        text = ast.get_docstring(ast.parse((folder / "commands" / f"{name}.py").read_text(encoding="utf-8")))
        assert text is not None and title == text.partition("\n")[0].rstrip("."), name
        assert hasattr(import_module(f"interlock.cli.commands.{name}"), "register")
    help_text = parser(only="check").format_help()
    assert all(name in help_text for name in COMMANDS) and help_text == parser().format_help()
