"""The parser, and the one place where an exception becomes a message and an exit code.

The command runs in a thread of its own. Python handles signals in the main thread alone, which waits for them and can
end the process at once, however long a compile takes. Files are written whole or not at all (``files``).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import interlock
from interlock.cli import exits, files, streams
from interlock.cli.output import Output, printable

COMMANDS = ("compile", "precompute", "verify", "inspect", "check", "sample", "diff", "draw", "vocab", "bench")
ABOUT = """\
Exact constrained decoding: compile patterns, JSON Schemas and choices, and look at what they mean.

  interlock check order.json answer.json          does this document satisfy the schema, and if not, where?
  interlock inspect pattern:'[a-z]{1,60}'         states, memory, how each keyword is enforced
  interlock sample order.json -n 5                five documents that the masks allow
  interlock compile order.json -t tokenizer.json -o order.index
  interlock precompute schemas/ -t tokenizer.json -o store/
"""
CODES = """\
exit codes: 0 yes, done; 1 the answer is no; 2 wrong arguments; 3 the source was refused; 4 a file, vocabulary or
artifact is not usable; 70 a bug in interlock; 130 Ctrl-C; 141 the reader of the output went away; 143 SIGTERM
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are JSON where ``--json`` asks for it."""

    def error(self, message: str) -> NoReturn:
        if "--json" in sys.argv:
            streams.write(json.dumps({"error": {"type": "UsageError", "message": message}}) + "\n")
        else:
            streams.say(f"interlock: {printable(message)}\n  try: {self.prog} --help\n")
        sys.exit(exits.USAGE)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    form = argparse.RawDescriptionHelpFormatter
    top = Parser(prog="interlock", description=ABOUT, epilog=CODES, formatter_class=form)
    top.add_argument("--version", action="version", version=f"interlock {interlock.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"interlock.cli.{name}")
        title, _, examples = (module.__doc__ or "").partition("\n\n")
        about = f"{title}\n\n{examples}"
        sub = commands.add_parser(name, help=title.rstrip("."), description=about, epilog=CODES, formatter_class=form)
        sub.add_argument("--json", action="store_true", help="one JSON object on the standard output")
        sub.add_argument("-q", "--quiet", action="store_true", help="no progress and no remarks")
        module.register(sub)
        sub.set_defaults(run=module.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. For the main thread; it may end the process."""
    streams.open_missing()
    try:
        args = _arguments(argv)
    except (OSError, streams.OutputError) as error:
        return fail(error, Output(json=False))
    output = Output(args.json, args.quiet)
    # Stays if a failure cannot even be said.
    outcome = exits.BUG

    def work() -> None:
        nonlocal outcome
        try:
            outcome = args.run(args, output)
        except BaseException as error:  # whatever it is, it becomes a message and an exit code
            outcome = fail(error, output)

    thread = threading.Thread(target=work, daemon=True)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        thread.start()
        thread.join()
    except (KeyboardInterrupt, exits.Terminated) as error:
        files.interrupted()
        code = fail(error, output)
        os._exit(code)
    return outcome


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, unless a text was asked for or they make no sense: then the process ends."""
    try:
        return parser().parse_args(argv)
    except SystemExit:
        # The text may not have been written yet.
        streams.write("")
        raise


def _terminate(*_: Any) -> NoReturn:
    raise exits.Terminated("ended by SIGTERM")


def fail(error: BaseException, output: Output) -> int:
    """Say what went wrong and return the exit code."""
    code = exits.code_of(error)
    if isinstance(error, BrokenPipeError):
        streams.discard()
        return exits.PIPE
    if isinstance(error, streams.OutputError):
        streams.discard()
    if isinstance(error, (KeyboardInterrupt, exits.Terminated)):
        streams.say("interlock: interrupted\n")
    elif output.json and not isinstance(error, streams.OutputError):
        try:
            output.result({"error": exits.describe(error)}, [])
        except (BrokenPipeError, streams.OutputError):
            streams.discard()
            return fail(error, Output(json=False))
    else:
        streams.say("\n".join(printable(line) for line in exits.sentence(error).split("\n")) + "\n")
    return code
