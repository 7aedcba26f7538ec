"""Print what a command does, its options and examples: the same as COMMAND --help.

  interlock help
  interlock help check
  interlock help sources
  interlock help exit-codes

The last two are about no command: how a source is named, with the options of reading and compiling it; and what the
exit codes mean. With --json, the arguments of a command are a list, too.
"""

from __future__ import annotations

import argparse
from typing import Any

from interlock.cli.arguments.command_table import CODES, COMMANDS, SOURCES, overview
from interlock.cli.arguments.parser import command_parser
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output
from interlock.cli.terminal.suggest import near_command


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    about = "the command, sources or exit-codes; an overview where none is named"
    parser.add_argument("about", metavar="COMMAND", nargs="?", help=about)


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the help of one command, of sources, or the overview of all."""
    if args.about is None:
        lines = overview()
        output.result({"command": None, "help": "".join(f"{line}\n" for line in lines), "commands": COMMANDS}, lines)
        return exits.OK
    described: list[dict[str, Any]] = []
    if args.about == CODES:
        text = "\n".join(f"{code:>8}  {meaning}" for code, meaning in exits.MEANINGS.items())
    elif args.about == SOURCES:
        text = _of_sources()
    elif args.about in COMMANDS:
        of_command = command_parser(args.about)
        text = of_command.format_help()
        described = arguments_of(of_command)
    else:
        meant = near_command(args.about, [*COMMANDS, SOURCES, CODES])
        way = f"did you mean {meant}?" if meant else f"there are {', '.join([*COMMANDS, SOURCES, CODES])}"
        raise exits.UsageError(f"no command is named {args.about!r}", way)
    machine: dict[str, Any] = {"command": args.about, "help": text}
    machine |= {"arguments": described} if described else {}
    machine |= {"exit_codes": exits.MEANINGS} if args.about == CODES else {}
    output.result(machine, text.rstrip("\n").split("\n"))
    return exits.OK


def arguments_of(of_command: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """What a command takes, for machines: files by their name, and options by all of their names."""
    return [
        {
            "names": list(action.option_strings) or [str(action.metavar or action.dest)],
            "value": None if action.nargs == 0 else str(action.metavar or action.dest.upper()),
            "choices": list(action.choices) if action.choices is not None else None,
            "required": action.required,
            "repeatable": action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction),
            "help": (action.help or "").replace("%%", "%"),
        }
        for action in of_command._actions
    ]


def _of_sources() -> str:
    """What a source is, from its file, and the options."""
    from interlock.cli.sources import source_arguments as sources

    about = (sources.__doc__ or "").replace("``", "").strip("\n")
    table = [line for line in about.splitlines() if not line.startswith("===")]
    return "\n".join(table) + "\n\n" + command_parser("check").format_options_of_sources()
