"""Print what a command does, its options and examples: the same as COMMAND --help.

  interlock help
  interlock help check
  interlock help sources
  interlock help exit-codes

The last two are about no command: how a source is named, with the options of reading and compiling it; and what the
exit codes mean.
"""

from __future__ import annotations

import argparse

from interlock.cli import exits
from interlock.cli.commands import CODES, COMMANDS, SOURCES, overview
from interlock.cli.output import Output
from interlock.cli.parser import command_parser
from interlock.cli.suggest import near_command


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    about = "the command, sources or exit-codes; an overview where none is named"
    parser.add_argument("about", metavar="COMMAND", nargs="?", help=about)


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the help of one command, of sources, or the overview of all."""
    if args.about is None:
        lines = overview()
        output.result({"command": None, "help": "".join(f"{line}\n" for line in lines)}, lines)
        return exits.OK
    if args.about == CODES:
        text = "\n".join(f"{code:>8}  {meaning}" for code, meaning in exits.MEANINGS.items())
    elif args.about == SOURCES:
        text = _of_sources()
    elif args.about in COMMANDS:
        text = command_parser(args.about).format_help()
    else:
        meant = near_command(args.about, [*COMMANDS, SOURCES, CODES])
        way = f"did you mean {meant}?" if meant else f"there are {', '.join([*COMMANDS, SOURCES, CODES])}"
        raise exits.UsageError(f"no command is named {args.about!r}", way)
    output.result({"command": args.about, "help": text}, text.rstrip("\n").split("\n"))
    return exits.OK


def _of_sources() -> str:
    """What a source is, from its file, and the options."""
    from interlock.cli import sources

    about = (sources.__doc__ or "").replace("``", "").strip("\n")
    table = [line for line in about.splitlines() if not line.startswith("===")]
    return "\n".join(table) + "\n\n" + command_parser("check").format_options_of_sources()
