"""The command line: ``interlock COMMAND ...``.

One file per command, each with two functions: ``register`` describes the arguments, ``run`` does the work and returns
an exit code. What the commands share:

* ``app``: the parser, and the one place where an exception becomes a message and an exit code;
* ``exits``: the exit codes and how a failure is shown;
* ``output``: text for people on the standard output, or one JSON object with ``--json``; progress on the standard
  error, and only on a terminal;
* ``sources`` and ``vocabularies``: the arguments that name a source and a vocabulary;
* ``files``: writing a file whole or not at all.

Argparse, because numpy is the only package that interlock needs: a command line that must be installed everywhere
should not bring a dozen packages for colours, and what it shows is plain text that a pipe takes as well.
"""

from interlock.cli.app import main

__all__ = ["main"]
