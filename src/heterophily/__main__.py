"""``python -m heterophily`` is the command ``heterophily``."""

from __future__ import annotations

import sys

from heterophily.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
