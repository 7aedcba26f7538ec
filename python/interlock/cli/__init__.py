"""The command line: ``interlock COMMAND ...``.

One file per command, each with two functions: ``register`` describes the arguments, ``run`` does the work and returns
an exit code. What the commands share:

* ``app``: running a command, and the one place where an exception becomes a message and an exit code;
* ``commands``: which there are, and the overview; ``parser``: arguments, help, and what a wrong argument was to be;
* ``exits``: the exit codes and how a failure is shown; ``locate_error``: where in its source an error is, and a way on,
  which the error carries as a ``located.PlaceInSource``;
* ``output``: text for people on the standard output, or one JSON object with ``--json``; progress on the standard
  error, and only on a terminal; ``style``: colours; ``excerpt``: a line with a caret; ``suggest``: what was meant;
* ``sources`` and ``vocabularies``: the arguments that name a source and a vocabulary;
* ``atomic_files``: writing a file whole or not at all.

Argparse, because numpy is the only package that interlock needs: a command line that must be installed everywhere
should not bring a dozen packages. Colours, excerpts, suggestions and completion are a few hundred lines here, and what
is shown stays plain text that a pipe takes as well.
"""

from interlock.cli.app import main

__all__ = ["main"]
