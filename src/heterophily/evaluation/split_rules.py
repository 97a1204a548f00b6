"""Split rules: where training, validation and test nodes come from. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heterophily.data.graph import Graph
from heterophily.data.remedies import remedy
from heterophily.data.splits import DRAWS, Split, SplitBatch, random_splits
from heterophily.errors import InputError, lookup
from heterophily.evaluation.coverage import gap_remarks

REPEATS = 10
GIVEN = "given"
"""The name of splits that the caller hands in."""


@dataclass(frozen=True, slots=True)
class SplitRule:
    """A rule, what its stored runs call it, and what of the paper belongs to it.

    Parameters
    ----------
    title
        In words.
    stored
        Its name in stored runs and their keys. What they call ``random`` is the paper's rule:
        they are older than the stratified one.
    settings
        The table of the paper (``random`` or ``fixed`` splits) whose hyper-parameters are used on
        such splits; None if it has none for them.
    is_papers
        Whether the paper measured on such splits: only then its numbers stand beside ours.
    """

    title: str
    stored: str
    settings: str | None = None
    is_papers: bool = False


SPLIT_RULES: Mapping[str, SplitRule] = {
    "random": SplitRule(
        "random 60/20/20 splits, every class in training, validation and test",
        stored="stratified",
        settings="random",
    ),
    "paper-random": SplitRule(
        "the paper's random 60/20/20 splits, as many training nodes of every class",
        stored="random",
        settings="random",
        is_papers=True,
    ),
    "fixed": SplitRule("the splits that come with the data", "fixed", "fixed", is_papers=True),
    "public": SplitRule("the public split of cora, citeseer, pubmed", "public"),
}


def default_rule(preset: str | None) -> str:
    """Return the rule that holds when none is named: a preset of the paper brings the paper's.

    >>> default_rule(None), default_rule("paper")
    ('random', 'paper-random')
    """
    return "random" if preset is None else "paper-random"


def rule_of(stored: str) -> str:
    """Return the name of the rule that stored runs call ``stored``.

    >>> rule_of("random"), rule_of("stratified")
    ('paper-random', 'random')
    """
    names = {rule.stored: name for name, rule in SPLIT_RULES.items()}
    return names.get(stored, stored)


def splits_of(
    graph: Graph,
    rule: str,
    *,
    repeats: int | None = None,
    seed: int = 0,
    dataset: str | None = None,
    data_folder: str | Path | None = None,
    offline: bool = False,
) -> SplitBatch:
    """Return the splits that a rule gives on a graph; ``public`` ones need the catalog's name."""
    lookup(SPLIT_RULES, "split rule", rule)
    check_graph(graph, repeats)
    if rule in DRAWS:
        return random_splits(graph.labels, repeats=repeats or REPEATS, seed=seed, rule=rule)
    if rule == "fixed" and graph.splits is not None:
        return graph.splits
    if rule == "public" and dataset is not None:
        return _public(dataset, data_folder, offline)
    raise InputError(f"{graph.name} has no {rule} splits; {remedy('random-splits')}")


MOST_REPEATS = 100_000


def check_graph(graph: Graph, repeats: int | None) -> None:
    """Refuse a graph without a choice of classes, and fewer than one training."""
    if graph.num_classes < 2:
        advice = f"; {remedy('name-label')}" if graph.num_classes == 0 else ""
        raise InputError(
            f"{graph.name}: {graph.num_classes} labelled class(es); training needs at least two"
            f"{advice}"
        )
    if repeats is not None and repeats < 1:
        raise InputError(f"repeats={repeats}; train at least once")
    if repeats is not None and repeats > MOST_REPEATS:
        raise InputError(f"repeats={repeats}; train at most {MOST_REPEATS:,} times")


def number_of_runs(rule: str, splits: SplitBatch, repeats: int | None) -> int:
    """Return how many replicas to train: asked for, or one per split."""
    return repeats or (REPEATS if rule == "public" else len(splits))


def _public(graph: str, data_folder: str | Path | None, offline: bool) -> SplitBatch:
    """Return Planetoid's public split of a dataset."""
    from heterophily.data.catalog import DATASETS, split_sets

    found = {}
    if graph in DATASETS:
        found = split_sets(graph, data_folder=data_folder, offline=offline)
    if "public" not in found:
        raise InputError(f"{graph} has no public split; {remedy('random-splits')}")
    return found["public"]


def split_remarks_of(graph: Graph, splits: Sequence[Split], stored: str) -> tuple[str, ...]:
    """Return :func:`split_remarks` for the splits of stored runs, by the stored name."""
    return split_remarks(graph, SplitBatch.stack(list(splits)), rule_of(stored))


def split_remarks(graph: Graph, splits: SplitBatch, rule: str) -> tuple[str, ...]:
    """Say which classes the splits leave out, and that the graph has splits of its own."""
    remarks = gap_remarks(graph.labels, splits, graph.class_names, rule)
    if rule == "random" and graph.splits is not None:
        return (*remarks, f"the graph has splits of its own; {remedy('fixed-splits')}")
    return remarks
