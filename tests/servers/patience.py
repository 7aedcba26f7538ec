"""How long the tests of the servers wait: for a start, for an answer, for a process to end.

A limit only ends what hangs; a busy machine takes a server's minute for ten. ``INTERLOCK_TEST_SECONDS`` sets it.
"""

import os

SECONDS = float(os.environ.get("INTERLOCK_TEST_SECONDS", "1800"))
"""The longest that one start or one answer may take."""
