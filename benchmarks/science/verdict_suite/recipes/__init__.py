"""All recipes, in pairs of siblings, and the two halves they are divided into.

A phenomenon has two recipes, ``phenomenon/variant``, which differ in parameters. The one whose
name has the smaller SHA-256 is for building ("build"), the other is measured once at the end
("measure"): nobody chose, and both halves cover the same phenomena.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from verdict_suite.generate import Recipe
from verdict_suite.recipes.alike import ALIKE
from verdict_suite.recipes.derived import DERIVED
from verdict_suite.recipes.unlike import UNLIKE
from verdict_suite.recipes.unusual import UNUSUAL
from verdict_suite.recipes.useless import USELESS

HALVES = ("build", "measure")


def _table() -> dict[str, Recipe]:
    recipes = (*ALIKE, *UNLIKE, *USELESS, *UNUSUAL, *DERIVED)
    found = {recipe.name: recipe for recipe in recipes}
    if len(found) != len(recipes):
        raise ValueError("two recipes have one name")
    return found


def halves_of(names: list[str]) -> dict[str, str]:
    """Return the half of each recipe: of two siblings, the smaller hash is for building."""
    phenomena: dict[str, list[str]] = {}
    for name in names:
        phenomena.setdefault(name.split("/")[0], []).append(name)
    found = {}
    for phenomenon, siblings in phenomena.items():
        if len(siblings) != len(HALVES):
            raise ValueError(f"{phenomenon} has {len(siblings)} recipes, not {len(HALVES)}")
        ordered = sorted(siblings, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        found |= dict(zip(ordered, HALVES, strict=True))
    return found


RECIPES: Mapping[str, Recipe] = _table()
HALF: Mapping[str, str] = halves_of(list(RECIPES))
