"""Ctrl-C while the command line starts.

The script ``interlock`` imports the package before any code of the command line runs. For as long as that takes, this
module answers Ctrl-C as the command line does, in place of a traceback through whatever is being imported. In any other
process it changes nothing. It imports only what Python has loaded at its start: the modules ``signal`` and ``typing``
would take a third of the time that is to be covered.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # What `signal` wraps.
import os
import sys

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has ended."""


def end_at_once(*_: object) -> None:
    """Handle a signal: say so, and end the process. For moments in which nothing is being written."""
    try:
        os.write(2, b"interlock: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def is_command_line() -> bool:
    """Whether this process is the script ``interlock``, or ``python -m interlock``."""
    script: list[str] = getattr(sys, "argv", [""])[:1] or [""]
    if script[0] in ("-m", "-c"):  # What Python puts there while it looks for the module.
        return script[0] == "-m" and not {"interlock", "interlock.cli"}.isdisjoint(sys.orig_argv)
    name = os.path.basename(script[0]).lower().removesuffix(".exe").removesuffix("-script.py")
    return name == "interlock"


def catch() -> bool:
    """Let ``end_at_once`` handle Ctrl-C where Python's own handler would. Whether it does now."""
    try:
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, end_at_once)
    except ValueError:  # Only the main thread may.
        return False
    return bool(_signal.getsignal(_signal.SIGINT) is end_at_once)


if is_command_line():
    catch()
