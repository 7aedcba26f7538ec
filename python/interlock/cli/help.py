"""Print what a command does, its options and examples: the same as COMMAND --help.

interlock help
interlock help check
"""

from __future__ import annotations

import argparse

from interlock.cli import exits
from interlock.cli.output import Output
from interlock.cli.suggest import near


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("about", metavar="COMMAND", nargs="?", help="the command; all of them where none is named")


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the help of one command, or the overview of all."""
    from interlock.cli import app

    if args.about is None:
        text = app.overview()
    elif args.about in app.COMMANDS:
        text = app.command_parser(args.about).format_help()
    else:
        meant = near(args.about, app.COMMANDS)
        way = f"did you mean {meant}?" if meant else f"there are {', '.join(app.COMMANDS)}"
        raise exits.UsageError(f"no command is named {args.about!r}; {way}")
    output.result({"command": args.about, "help": text}, text.rstrip("\n").split("\n"))
    return exits.OK
