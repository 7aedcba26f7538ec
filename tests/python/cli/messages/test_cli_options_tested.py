"""Every option of every command is passed by some test: what nobody calls may be gone without anybody's noticing."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from interlock.cli.arguments.command_table import COMMANDS
from interlock.cli.arguments.parser import HOW, command_parser

TESTS = Path(__file__).parents[2]
SHARED = {"--json", "--quiet", "--help", "--version"}
"""Options of every command: one test does for all of them."""


def passed(tree):
    """The words of command lines in a file: texts among arguments or elements, and those that are split there. What a
    test expects to be printed is none.
    """
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.Call):
            is_split = isinstance(node.func, ast.Attribute) and node.func.attr == "split"
            if is_split and isinstance(node.func.value, ast.Constant):
                yield from str(node.func.value.value).split()
            parts = node.args
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = node.elts
        yield from (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def words_of_tests():
    """The words of command lines by file, but for this one."""
    paths = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    return {path: set(passed(ast.parse(path.read_text(encoding="utf-8")))) for path in paths}


def options_by_command():
    """The names of each option by command; those of options that are shared stand under ``""``."""
    options = defaultdict(set)
    for command in COMMANDS:
        for group in command_parser(command)._action_groups:
            for action in group._group_actions:
                is_shared = group.title == HOW or SHARED & set(action.option_strings)
                if action.option_strings:
                    options["" if is_shared else command].add(tuple(action.option_strings))
    return options


def untested(options, words):
    """The options that no file of tests passes, by any of their names. Such a file also has the name of the command."""
    return sorted(
        f"{command} {names[-1]}".strip()
        for command, actions in options.items()
        for names in actions
        if not any(some & set(names) and (not command or command in some) for some in words.values())
    )


@pytest.fixture(scope="module")
def words():
    return words_of_tests()


def test_every_option_is_passed_by_a_test(words):
    options = options_by_command()
    assert ("--document",) in options[""] and ("--distinct",) in options["sample"]
    missing = untested(options, words)
    assert not missing, f"no test passes {', '.join(missing)}: write one (docs/internals/recipes/cli-option.md)"


def test_an_option_without_a_test_is_found(words):
    options = {"sample": {("--distinct",), ("--distinctly",)}, "": {("-z", "--zeal")}}
    assert untested(options, words) == ["--zeal", "sample --distinctly"]
    read = set(passed(ast.parse('assert "--a" in run("check", *"b --c".split(), "--d"), "--e"')))
    assert read == {"check", "b", "--c", "--d"}
