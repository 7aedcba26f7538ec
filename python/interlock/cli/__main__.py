"""``python -m interlock.cli``: the same command where the script is not on the path."""

import sys

from interlock.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
