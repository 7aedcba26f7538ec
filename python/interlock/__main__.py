"""``python -m interlock`` is the command line, ``interlock``."""

import sys

from interlock.cli import main

if __name__ == "__main__":
    sys.exit(main())
