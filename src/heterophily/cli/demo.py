"""``heterophily demo``: the main job on embedded graphs."""

from __future__ import annotations


def demo() -> None:
    """Show the main job on embedded graphs: no download."""
    from heterophily.data.catalog import load

    for name in ("davis", "karate"):
        print(load(name).report)
        print()
