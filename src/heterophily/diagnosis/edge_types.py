"""Which types of edges tell about the classes: each type measured by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heterophily.data.graph import Graph
from heterophily.diagnosis.shuffle import EdgeChance, edge_chance
from heterophily.diagnosis.verdict import INFORMATIVE_FROM

SPREADS = 3.0
"""So many standard deviations over shuffles must it be above chance: several types are tried."""

MUCH = 2.0
"""The first type carries the signal if it tells so many times as much as the second."""

HEADINGS = ("type of edges", "edges", "between labelled nodes", "adjusted homophily",
            "label informativeness, corrected")  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypeSignal:
    """One type of edges; ``chance`` is None when no edge joins two labelled nodes."""

    name: str
    edges: int
    chance: EdgeChance | None

    @property
    def informativeness(self) -> float:
        """Label informativeness of the edges of this type, corrected for chance."""
        return 0.0 if self.chance is None else self.chance.informativeness.corrected

    @property
    def tells(self) -> bool:
        """Whether the class at one end tells about the class at the other, and not by chance."""
        if self.chance is None:
            return False
        found = self.chance.informativeness
        return found.is_real(INFORMATIVE_FROM) and found.corrected >= SPREADS * found.spread

    def row(self) -> tuple[str, ...]:
        """Return the cells of a table with the columns :data:`HEADINGS`."""
        if self.chance is None:
            return self.name, f"{self.edges:,}", "0", "undefined", "undefined"
        return (
            self.name,
            f"{self.edges:,}",
            f"{self.chance.edges:,}",
            f"{self.chance.homophily.value:.3f}",
            f"{self.informativeness:.3f}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        chance = self.chance
        return {
            "name": self.name,
            "edges": self.edges,
            "labelled_edges": 0 if chance is None else chance.edges,
            "adjusted_homophily": None if chance is None else chance.homophily.value,
            "label_informativeness": None if chance is None else self.informativeness,
            "p_value": None if chance is None else chance.informativeness.p_value,
            "tells": self.tells,
        }


def type_signals(graph: Graph, *, seed: int = 0) -> tuple[TypeSignal, ...]:
    """Measure each type of edges by itself; nothing for a graph without types."""
    parts = {name: graph.of_type(name) for name in graph.type_names}
    return tuple(
        TypeSignal(name, part.num_edges, edge_chance(part, seed=seed))
        for name, part in parts.items()
    )


def type_remark(signals: Sequence[TypeSignal]) -> str:
    """Say in one sentence whether one type of edges carries the signal; empty without types."""
    if len(signals) < 2:
        return ""
    ranked = sorted(signals, key=lambda signal: -signal.informativeness)
    telling = [signal for signal in ranked if signal.tells]
    if not telling:
        return (
            "Taken one by one, no type of edges tells about the classes (label informativeness, "
            f"corrected for chance, is below {INFORMATIVE_FROM} or not clearly above chance)."
        )
    first, value = telling[0].name, telling[0].informativeness
    if len(telling) == 1:
        return (
            f"Only edges of type {first!r} tell about the classes (label informativeness "
            f"{value:.3f}, corrected for chance); edges of other types are not clearly above "
            f"chance. A graph of these edges alone: graph.of_type({first!r})."
        )
    second = telling[1].informativeness
    if value >= MUCH * second:
        return (
            f"Edges of type {first!r} carry most of the signal: label informativeness {value:.3f}, "
            f"that of the next type, {telling[1].name!r}, is {second:.3f}."
        )
    names = ", ".join(repr(signal.name) for signal in telling)
    return f"Several types of edges tell about the classes: {names}; none of them stands out."
