"""Probes and evidence made by hand, for the tests of rules and words."""

from __future__ import annotations

from heterophily.diagnosis.paired import Difference
from heterophily.diagnosis.probe_value import FROM_GRAPH, Probe
from heterophily.diagnosis.shuffle import EdgeChance, Shuffled
from heterophily.diagnosis.verdict import Evidence

SURE, FAIR, NO = 1e-5, 0.01, 0.6
"""p-values: far below the border, a little below it (also among four), far above it."""


def gap(value: float, p_value: float = SURE, half: float = 0.01) -> Difference:
    """Return a difference with limits this far away."""
    return Difference(value, value - half, value + half, p_value)


def made_probe(
    gains: dict[str, Difference] | Difference,
    average: Difference | None = None,
    *,
    predicted: Shuffled | None = None,
    has_features: bool = True,
    tree_nodes: int = 400,
) -> Probe:
    """Return a probe with these gains; one value stands for neighbours' labels, others are 0."""
    given = gains if isinstance(gains, dict) else {"labels": gains}
    names = FROM_GRAPH if has_features else FROM_GRAPH[1:]
    all_gains = {name: given.get(name, gap(-0.005, NO)) for name in names}
    settings = {f"own+{name}": 0.6 + gain.value for name, gain in all_gains.items()}
    return Probe(
        score="accuracy",
        scores={"linear": {"own": 0.6, **settings}},
        own="linear" if has_features else "largest class",
        own_score=0.6,
        gains=all_gains,
        by_learner=dict.fromkeys(all_gains, "linear"),
        average_loss=(average or gap(0.0, NO)) if has_features else None,
        folds=5,
        repeats=2,
        nodes=400,
        tree_nodes=tree_nodes,
        has_features=has_features,
        candidates=len(all_gains),
        predicted=predicted,
    )


def made_chance(
    homophily: float = 0.0,
    tells: float = 0.0,
    *,
    p_homophily: float | None = None,
    p_tells: float | None = None,
    error: float = 0.01,
    spread: float = 0.001,
    edges: int = 5000,
) -> EdgeChance:
    """Return label metrics beyond chance; p-values are small where the values are not zero."""
    p_homophily = p_homophily if p_homophily is not None else 0.005 if homophily > 0.05 else 0.5
    p_tells = p_tells if p_tells is not None else 0.005 if tells > 0.005 else 0.5
    return EdgeChance(
        edges,
        Shuffled(homophily, homophily, spread, p_homophily),
        error,
        Shuffled(tells, tells, spread, p_tells),
    )


def made(
    gains: dict[str, Difference] | Difference,
    average: Difference | None = None,
    chance: EdgeChance | None = None,
    *,
    labelled: int = 400,
    predicted: Shuffled | None = None,
    has_features: bool = True,
) -> Evidence:
    """Return evidence for a verdict."""
    probe = made_probe(gains, average, predicted=predicted, has_features=has_features)
    return Evidence(True, labelled, probe, chance or made_chance())
