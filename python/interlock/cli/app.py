"""Running a command, and the one place where an exception becomes a message and an exit code.

The command runs in a thread of its own. Python handles signals in the main thread alone, which waits for them and can
end the process at once, however long a compile takes. Files are written whole or not at all (``atomic_files``).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from interlock import _interrupt
from interlock.cli.arguments.command_table import COMMANDS, overview
from interlock.cli.arguments.parser import (
    command_in,
    command_parser,
    in_order,
    marked,
    parser,
    refuse_empty,
    unmark,
)
from interlock.cli.sources import overwriting
from interlock.cli.terminal import atomic_files, exits, streams, style
from interlock.cli.terminal.output import Output


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. For the main thread; it may end the process."""
    before = signal.getsignal(signal.SIGINT)
    caught = _interrupt.catch()
    try:
        return _main(argv, caught)
    finally:
        if caught:
            signal.signal(signal.SIGINT, before)


def _main(argv: Sequence[str] | None, caught: bool) -> int:
    streams.prepare()
    try:
        args = _arguments(argv)
        if args.command is None:
            Output(json=False).result({}, overview())
            return exits.OK
    except (OSError, streams.OutputError) as error:
        return fail(error, Output(json=False))
    output = Output(args.json, args.quiet)
    outcome = exits.BUG
    failure: BaseException | None = None

    def work() -> None:
        nonlocal outcome, failure
        try:
            refuse_empty(args)
            overwriting.refuse_inputs(vars(args))
            overwriting.refuse_others(vars(args))
            outcome = args.run(args, output)
        except BaseException as error:  # whatever it is, it becomes a message and an exit code
            failure = error

    thread = threading.Thread(target=work, daemon=True)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if caught:  # From here on, there may be something half-written.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        thread.start()
        thread.join()
        # Here and not in the thread: a signal that came first is raised before. Ctrl-C ends the other side of a pipe
        # as well, and that nothing came through it is no failure then.
        if failure is not None:
            outcome = fail(failure, output)
        if caught:
            signal.signal(signal.SIGINT, _interrupt.end_at_once)
    except (KeyboardInterrupt, exits.Terminated) as error:
        for number in (signal.SIGINT, signal.SIGTERM):  # A second one changes nothing: this one is being obeyed.
            signal.signal(number, signal.SIG_IGN)
        atomic_files.interrupted()
        code = fail(error, output)
        os._exit(code)
    return outcome


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, unless a text was asked for or they make no sense: then the process ends."""
    try:
        given = in_order(sys.argv[1:] if argv is None else argv)
        name = command_in(given)
        if name not in COMMANDS or given[0] != name:
            return parser(only=name).parse_args(given)
        # Options may stand between the files.
        args = command_parser(name).parse_intermixed_args(marked(given[1:]))
        unmark(args)
        args.command = name
        return args
    except SystemExit:
        # The text may not have been written yet.
        streams.write("")
        raise


_INTERRUPTED = {
    exits.INTERRUPTED: "ended by Ctrl-C (SIGINT); nothing half-written is left",
    exits.TERMINATED: "ended by SIGTERM; nothing half-written is left",
}


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
        if output.json:
            described = {"type": "Interrupted", "message": _INTERRUPTED[code]}
            try:
                output.result({"error": described}, [])
            except (BrokenPipeError, streams.OutputError):
                streams.discard()
        streams.say("interlock: interrupted\n")
    elif output.json and not isinstance(error, streams.OutputError):
        try:
            output.result({"error": exits.describe(error)}, [])
        except (BrokenPipeError, streams.OutputError):
            streams.discard()
            return fail(error, Output(json=False))
    else:
        colours = style.wanted(sys.stderr)
        streams.say("".join(style.painted(line, colours) + "\n" for line in exits.sentence(error)))
    return code
