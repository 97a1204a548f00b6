"""How far a piece of work is: the one callback of the project."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the number of parts that are finished and the number of all."""
