"""The parser of the command line: short help that fits the terminal, and errors that say what was probably meant."""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn

import interlock
from interlock.cli.arguments.command_table import COMMANDS, MORE, SOURCES, TITLE, examples
from interlock.cli.terminal import exits, streams, style
from interlock.cli.terminal.style import NAME, TRY, Line
from interlock.cli.terminal.suggest import near_command, near_option, near_value

CODES = (
    "exit codes: 0 yes, done; 1 no; 2 wrong arguments; 3 source refused; 4 file, vocabulary or artifact not usable; "
    "5 not decided (diff); 70 a bug; 130 Ctrl-C; 141 the output's reader went away; 143 SIGTERM"
)
HOW = "how the source is read"
"""The title of the options of sources, which the help of a command names and ``help sources`` explains."""
GLOBAL = ("--json", "-q", "--quiet")
"""Options of every command, which may also stand before it."""


class Form(argparse.RawDescriptionHelpFormatter):
    """Paragraphs are filled to the width of the terminal; indented lines and tables stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=max(20, style.columns() - 2))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = []
        for block in text.strip("\n").split("\n\n"):
            raw = any(line.startswith(("  ", "==", "``")) for line in block.splitlines())
            text = " ".join(block.split())
            blocks.append(block if raw else textwrap.fill(text, max(20, width), break_on_hyphens=False))
        return textwrap.indent("\n\n".join(blocks), indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """An option with its value once, ``-t, --tokenizer FILE``: most then fit on one line with what they do."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are JSON where ``--json`` asks for it, and say what was probably meant."""

    def format_help(self) -> str:
        """The help. Of the options of sources it has the names alone, since most commands have them; what is given
        by its place and the options stand in one list.
        """
        form = self._get_formatter()
        form.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        form.add_text(self.description)
        form.start_section("arguments and options" if self._positionals._group_actions else "options")
        form.add_arguments(self._positionals._group_actions + self._optionals._group_actions)
        form.end_section()
        for group in self._action_groups:
            if group in (self._positionals, self._optionals):
                continue
            if group.title == HOW:
                named = [action.option_strings[-1] for action in group._group_actions]
                form.add_text(f"{HOW} (interlock help {SOURCES}): {', '.join(named)}")
                continue
            form.start_section(group.title)
            form.add_text(group.description)
            form.add_arguments(group._group_actions)
            form.end_section()
        form.add_text(self.epilog)
        return form.format_help()

    def format_options_of_sources(self) -> str:
        """The options of sources, each with what it is for."""
        form = self._get_formatter()
        for group in self._action_groups:
            if group.title == HOW:
                form.start_section(group.title)
                form.add_arguments(group._group_actions)
                form.end_section()
        return form.format_help()

    def error(self, message: str) -> NoReturn:
        """End the program with what is wrong in the arguments, and what was probably meant."""
        if message.startswith("the following arguments are required") and (unknown := self._unknown()):
            message = f"unrecognized arguments: {unknown}"
        meant = self._meant(message)
        command = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message, re.DOTALL)
        if command:
            message = f"no command is named {command[1]!r}" + ("" if meant else f"; there are {', '.join(COMMANDS)}")
        given = command_in(sys.argv[1:])
        first = next(iter(sys.argv[1:]), "")
        if command and first.startswith("-") and first not in GLOBAL and "completion" in first:
            message, meant = f"unrecognized arguments: {first}", self._meant(f"unrecognized arguments: {first}")
        elif command and first.startswith("-") and first not in GLOBAL:
            message, meant = (
                f"{first} stands before the command",
                f"interlock COMMAND {first} ..., options come behind it",
            )
        extra = re.match(r"unrecognized arguments: ([^-].*)", message, re.DOTALL)
        if extra and given in COMMANDS:
            message, meant = (
                f"too many arguments: {extra[1]}",
                _shortest_call(given, command_parser(given), "[options] "),
            )
        message = message.replace(MARK, "").replace(repr(MARK)[1:-1], "")
        if not meant and message.startswith("the following arguments are required") and given in COMMANDS:
            meant = _shortest_call(given, command_parser(given))
        if "--json" in sys.argv:
            help = f"interlock {given} --help" if given in COMMANDS else "interlock --help"
            described = {"type": "UsageError", "message": message, "remedy": meant or help}
            streams.write(json.dumps({"error": described}) + "\n")
        else:
            help = f"interlock {given} --help" if given in COMMANDS else "interlock --help"
            lines = [Line(("interlock: ", NAME), message), Line(("  try: ", TRY), meant or help)]
            streams.say("".join(style.painted(line, style.wanted(sys.stderr)) + "\n" for line in lines))
        sys.exit(exits.USAGE)

    def _meant(self, message: str) -> str:
        """The option or the value that is nearest to a wrong one."""
        unknown = re.match(r"unrecognized arguments: (.*)", message, re.DOTALL)
        if unknown:
            for word in unknown[1].split():
                option = word.partition("=")[0]
                known = [name for name in self._of_command() if name.startswith("--")]
                if option.lstrip("-") in ("no-color", "no-colour", "no-colors", "no-colours"):
                    return "NO_COLOR=1 before the command turns colours off"
                if option in ("-o", "--out", "--output") and "--out" not in known:
                    return "the result is on the standard output: > FILE behind the command writes it to a file"
                if option in ("--install-completion", "--show-completion"):
                    return "interlock completion bash, zsh or fish prints the script; its --help says where it belongs"
                # Without dashes, which all of them have in common.
                if option.startswith("-") and (found := near_option(option.lstrip("-"), [n[2:] for n in known])):
                    return f"did you mean --{found}?"
        command = re.match(r"argument COMMAND: invalid choice: '(.*?)'", message, re.DOTALL)
        if command:
            if command[1] in ("tool", "tools"):
                return "a list of tools is a source: interlock check tools.json --tool-format hermes FILE"
            found = near_command(command[1], COMMANDS)
            return f"did you mean {found}?" if found else ""
        missing = re.match(r"argument (\S+): expected one argument", message)
        if missing:
            option = missing[1].rpartition("/")[2]
            return f"a value behind it; one that begins with - is written {option}=-..."
        value = re.match(r"argument .*: invalid choice: '(.*)' \(choose from (.*)\)$", message, re.DOTALL)
        if value:
            found = near_value(value[1], re.findall(r"[\w-]+", value[2]))
            return f"did you mean {found}?" if found else ""
        return ""

    def _unknown(self) -> str:
        """The first option that there is not. argparse says first what is missing, which may be its value."""
        known = self._of_command()
        words = list(itertools.takewhile(lambda word: word != "--", sys.argv[1:]))
        return next((w for w in words if w.startswith("--") and w.partition("=")[0] not in known), "")

    def _of_command(self) -> list[str]:
        """The options of the command that was given, or of all."""
        given = command_in(sys.argv[1:])
        names = list(self._option_string_actions)
        for action in (self if given in COMMANDS else parser())._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name in [given] if given in COMMANDS else action.choices:
                    names += action.choices[name]._option_string_actions
        return names


def parser(only: str | None = None) -> Parser:
    """The parser of all commands. With ``only``, that command alone is imported and has its arguments."""
    about = "\n".join([TITLE, "", *examples()])
    top = Parser(prog="interlock", description=about, epilog=f"{MORE}\n\n{CODES}", formatter_class=Form)
    top.allow_abbrev = False
    top.usage = "interlock COMMAND [options] ..."
    top.add_argument("-V", "--version", action=_Version, nargs=0, help="show the version, and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, title in COMMANDS.items():
        sub = commands.add_parser(name, help=title, epilog=CODES, formatter_class=Form, allow_abbrev=False)
        if only is None or name == only:
            module = import_module(f"interlock.cli.commands.{name}")
            sub.description = module.__doc__
            sub.add_argument("--json", action="store_true", help="one JSON object on the standard output")
            sub.add_argument("-q", "--quiet", action="store_true", help="only errors, and what was asked to be printed")
            module.register(sub)
            sub.usage = _shortest_call(name, sub, "[options] ")
            sub.set_defaults(run=module.run)
    return top


def _shortest_call(name: str, sub: argparse.ArgumentParser, options: str = "") -> str:
    """A command with what it cannot do without: ``interlock compile SOURCE -t FILE -o FILE``."""
    words = []
    for action in sub._actions:
        shown = str(action.metavar or ("{" + ",".join(action.choices) + "}" if action.choices else action.dest.upper()))
        if not action.option_strings:
            words.append({"?": f"[{shown}]", "*": f"[{shown} ...]"}.get(str(action.nargs), shown))
    words += [f"{a.option_strings[0]} {a.metavar}" for a in sub._actions if a.option_strings and a.required]
    return f"interlock {name} {options}{' '.join(words)}".rstrip()


def command_parser(name: str) -> Parser:
    """The parser of one command, which is one of ``COMMANDS``."""
    for action in parser(only=name)._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: Parser = action.choices[name]
            return found
    raise AssertionError("the parser has commands")


class _Version(argparse.Action):
    """``--version``, which with ``--json`` is an object."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        version = interlock.__version__
        streams.write((json.dumps({"version": version}) if "--json" in sys.argv else f"interlock {version}") + "\n")
        parser.exit()


FILES = {
    "given": "FILE",
    "sources": "SOURCES",
    "store": "STORE",
    "tokenizer": "the name of the tokenizer file",
    "out": "--out",
    "report": "--report",
    "logprobs": "--logprobs",
    "junit": "--junit",
}
"""Arguments that name files, and what they are called."""


def refuse_empty(args: argparse.Namespace) -> None:
    """``UsageError`` for a name of a file that is empty, as that of a variable which the shell does not know."""
    for name, shown in FILES.items():
        value = getattr(args, name, None)
        if value == "" or isinstance(value, list) and "" in value:
            raise exits.UsageError(f"{shown} is empty; where it is a variable of the shell, that is not set")


MARK = "\0"
"""What no argument has: it stands before a word that looks like an option and is none."""


def marked(argv: Sequence[str]) -> list[str]:
    """The arguments without the first ``--``. Words behind it that look like options have the mark: argparse takes a
    ``--`` before the first positional argument for nothing where options may stand between those.

    >>> marked(["--valid", "--", "-a.json", "b.json", "--"])
    ['--valid', '\\x00-a.json', 'b.json', '\\x00--']
    """
    if "--" not in argv:
        return list(argv)
    at = list(argv).index("--")
    return [*argv[:at], *(MARK * word.startswith("-") + word for word in argv[at + 1 :])]


def unmark(args: argparse.Namespace) -> None:
    """Take the marks off the words again."""
    for name, value in vars(args).items():
        if isinstance(value, str):
            setattr(args, name, value.removeprefix(MARK))
        elif isinstance(value, list):
            setattr(args, name, [one.removeprefix(MARK) if isinstance(one, str) else one for one in value])


def command_in(argv: Sequence[str]) -> str:
    """The command among the arguments: the first that is no option, since no option before it takes a value."""
    return next((argument for argument in argv if not argument.startswith("-")), "")


def in_order(argv: Sequence[str]) -> list[str]:
    """The arguments with the options of every command behind the command, where one stands before it."""
    if len(argv) == 2 and argv[0] in ("-h", "--help") and argv[1] in COMMANDS:
        return [argv[1], argv[0]]
    asked = list(itertools.takewhile(lambda word: word != "--", argv))
    if "--json" in asked and {"-h", "--help"} & set(asked) and (name := command_in(asked)) in ("", *COMMANDS):
        return ["help", *([name] if name else []), "--json"]
    leading = list(_leading(argv))
    rest = list(argv[len(leading) :])
    if not leading:
        return rest
    if rest and not rest[0].startswith("-"):
        return [rest[0], *leading, *rest[1:]]
    return ["help", *leading] if not rest else list(argv)


def _leading(argv: Sequence[str]) -> Iterator[str]:
    for argument in argv:
        if argument not in GLOBAL:
            return
        yield argument
