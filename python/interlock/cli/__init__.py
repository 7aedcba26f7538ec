"""The command line: ``interlock COMMAND ...``.

``commands`` has one file per command, each with two functions: ``register`` describes the arguments, ``run`` does the
work and returns an exit code. What the commands share:

* ``app``: running a command, and the one place where an exception becomes a message and an exit code;
* ``arguments``: which commands there are, the overview, help, and what a wrong argument was to be;
* ``terminal``: text for people on the standard output, or one JSON object with ``--json``; progress on the standard
  error, and only on a terminal; colours; a line with a caret; ``suggest``: what was meant; ``exits``: the exit codes
  and how a failure is shown; ``atomic_files``: writing a file whole or not at all;
* ``sources``: the arguments that name a source or a vocabulary; ``locate_error``: where in its source an error is, and
  the remedy, which the error carries as a ``PlaceInSource``;
* ``checking``, ``comparing``, ``precomputing``: what the work of one command or a few is done with.

Argparse, because numpy is the only package that interlock needs: a command line that must be installed everywhere
should not bring a dozen packages. Colours, excerpts, suggestions and completion are a few hundred lines here, and what
is shown stays plain text that a pipe takes as well.
"""

from interlock.cli.app import main

__all__ = ["main"]
