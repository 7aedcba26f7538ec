"""The documentation passes to each command options that it has: in console blocks, in code spans, in tables."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from interlock.cli.arguments.command_table import COMMANDS
from interlock.cli.arguments.parser import command_parser

ROOT = Path(__file__).parents[4]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
if not (ROOT / "docs").is_dir():
    pytest.skip("the pages are not here", allow_module_level=True)

SPAN = re.compile(r"`([^`\n]+)`")
CALL = re.compile(rf"(?:^|[\s$`(/])interlock ({'|'.join(COMMANDS)})\b([^|;&#>`]*)")
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


@cache
def options_of(command):
    """The options of a command, as the program itself knows them."""
    return {"--version", "-V", *command_parser(command)._option_string_actions}


def calls(text):
    """The commands that a page runs or names, with their options: pairs."""
    joined = re.sub(r"\\\n\s*", " ", text)
    fenced = re.findall(r"^```(?:console|text|sh|bash|shell)\n(.*?)^```", joined, re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()]
    prose = re.sub(r"^```.*?^```", "", joined, flags=re.MULTILINE | re.DOTALL)
    # A span may go on in the next line, and not beyond its paragraph.
    spans = [span for paragraph in prose.split("\n\n") for span in SPAN.findall(paragraph.replace("\n", " "))]
    for piece in [*lines, *spans]:
        for command, rest in CALL.findall(re.sub(r"'[^']*'|\"[^\"]*\"", "TEXT", piece)):
            for option in OPTION.findall(rest):
                yield command, option


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_have_the_options_that_pages_pass(page):
    found = list(calls(page.read_text(encoding="utf-8")))
    wrong = [f"interlock {command} {option}" for command, option in found if option not in options_of(command)]
    assert not wrong, f"{page.relative_to(ROOT)} names options that the commands do not have: {wrong}"


def test_such_calls_are_found():
    """Of all pages, so that the test above cannot pass since it reads nothing."""
    found = {call for page in PAGES for call in calls(page.read_text(encoding="utf-8"))}
    assert len(found) > 20 and {command for command, _ in found} >= {"check", "draw", "precompute", "sample", "trace"}
    text = "`interlock check a.json --nme`\n```console\n$ interlock draw \\\n  b.json --form 'x --y' | cat --z\n```\n"
    assert sorted(calls(text)) == [("check", "--nme"), ("draw", "--form")]


def test_rows_of_the_table_of_options_name_the_commands_that_have_them():
    """In docs/options.md, the table with a column of commands: those that have the option, and no others."""
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`--[\w-]+`(?:, )?)+) \| ((?:`[a-z]+`(?:, )?)+) \|", page, re.MULTILINE)
    rows = [(SPAN.findall(options), SPAN.findall(commands)) for options, commands in rows]
    rows = [(options, commands) for options, commands in rows if set(commands) <= set(COMMANDS)]
    assert len(rows) > 20
    for options, commands in rows:
        for option in options:
            lacking = [command for command in commands if option not in options_of(command)]
            assert not lacking, f"docs/options.md: {option} is no option of {lacking}"
            silent = [command for command in COMMANDS if option in options_of(command) and command not in commands]
            assert not silent, f"docs/options.md: the row of {option} does not name {silent}, which have it too"
