"""The diagnosis of a graph: metrics, probe and verdict in one value."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data.atomic import write_text
from heterophily.data.datasets import DATASETS
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.remedies import remedy
from heterophily.data.report import GraphReport
from heterophily.data.wording import capital
from heterophily.diagnosis.edge_types import TypeSignal, type_remark, type_signals
from heterophily.diagnosis.probe import probe_sources
from heterophily.diagnosis.probe_columns import has_features
from heterophily.diagnosis.probe_value import Probe
from heterophily.diagnosis.remarks import metric_remarks
from heterophily.diagnosis.shuffle import edge_chance
from heterophily.diagnosis.verdict import TOO_FEW, Evidence, Verdict, judge
from heterophily.diagnosis.words import SEES_WHICH, WHY
from heterophily.errors import InputError
from heterophily.metrics.catalog import MetricValues, compute_metrics
from heterophily.metrics.estimates import estimate

ESTIMATE_SHARE = 0.6
ESTIMATE_REPEATS = 10
NOTHING_COMPARED = "Nothing was compared: without edges there is nothing that a graph can add."
SPREAD_ENTRIES = 1_000_000  # of edges and features; on larger graphs all draws would take minutes


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to run next: a command to copy, and why."""

    command: str
    why: str


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What :func:`diagnose` found. Print it, show it in a notebook, or write it as a page."""

    report: GraphReport
    verdict: Verdict
    metrics: MetricValues
    probe: Probe | None
    next: NextStep
    notes: tuple[str, ...] = ()
    spreads: dict[str, float] | None = None  # of each metric, when only some nodes are labelled
    source: str = ""
    seed: int = 0
    quick: bool = False
    types: tuple[TypeSignal, ...] = ()  # of edges, where they have types
    counted_by: str = ""  # the engine that holds the tables; empty: the graph was in memory

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: graph, verdict, metrics, probe, next."""
        return {
            "graph": self.report.to_dict(),
            "verdict": {
                **self.verdict.to_dict(),
                "notes": list(self.notes),
                "metric_spreads": self.spreads,
            },
            "metrics": dict(self.metrics.values),
            "probe": None if self.probe is None else self.probe.to_dict(),
            "next": {"command": self.next.command, "why": self.next.why},
            **({"counted_by": self.counted_by} if self.counted_by else {}),
            **({"edge_types": [signal.to_dict() for signal in self.types]} if self.types else {}),
        }

    def __rich__(self) -> Any:
        """Return the diagnosis for a terminal."""
        from heterophily.diagnosis.text import render

        return render(self)

    def __str__(self) -> str:
        """Return the diagnosis as plain text."""
        from heterophily.diagnosis.text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the diagnosis as HTML, for notebooks."""
        from heterophily.diagnosis.page import fragment

        return fragment(self)

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML file; it needs no network."""
        from heterophily.diagnosis.page import page

        write_text(path, page(self))


def diagnose(
    graph: GraphLike, *, quick: bool = False, seed: int = 0, source: str | None = None
) -> Diagnosis:
    """Say whether a graph helps or harms a model, how sure that is, and what to run next.

    Computes every metric of :data:`~heterophily.metrics.catalog.LINEAR`, asks what each source of
    information knows about the labels (:func:`~heterophily.diagnosis.probe.probe_sources`) and
    judges by the rules of :mod:`~heterophily.diagnosis.verdict`.

    Parameters
    ----------
    quick
        Ask linear classifiers only, on at most 2,000 nodes.
    seed
        Of the probe's folds and projections, and of the estimates when labels are missing.
    source
        How a command line names this graph, for the command to run next.

    Examples
    --------
    >>> from heterophily.data.catalog import load
    >>> diagnose(load("davis"), quick=True).verdict.kind
    'harmless'
    """
    graph = as_graph(graph)
    _check(graph)
    metrics = compute_metrics(graph)
    has_edges = _has_edges(graph)
    notes = undefined_notes(metrics)
    if graph.features is not None and not has_features(graph):
        notes.append("All features are zero: the graph is treated as one without features.")
    probe, chance = None, None
    if not has_edges:
        notes.append(NOTHING_COMPARED)
    else:
        chance = edge_chance(graph, seed=seed)
        try:
            probe = probe_sources(graph, seed=seed, quick=quick)
        except InputError as error:
            notes.append(f"{capital(str(error))}.")
    if quick and probe is not None:
        notes.append("Quick: linear classifiers only; they may miss what trees would find.")
    spreads = None
    if not graph.is_labelled.all():
        note = (
            f"{int(graph.is_labelled.sum()):,} of {graph.num_nodes:,} nodes are labelled: the "
            "metrics are estimates from these labels."
        )
        if _entries(graph) <= SPREAD_ENTRIES:
            spreads = _spreads(graph, metrics, seed)
            note += (
                f" ± is the spread over {ESTIMATE_REPEATS} draws of {100 * ESTIMATE_SHARE:.0f} % "
                "of them."
            )
        notes.append(note)
    verdict = judge(Evidence(has_edges, int(graph.is_labelled.sum()), probe, chance))
    notes += metric_remarks(graph, metrics, verdict)
    types = type_signals(graph, seed=seed)
    if remark := type_remark(types):
        notes.append(remark)
    named = source or _source(graph)
    return Diagnosis(
        report=graph.report,
        verdict=verdict,
        metrics=metrics,
        probe=probe,
        next=_next_step(verdict, named),
        notes=tuple(notes),
        spreads=spreads,
        source=named or "",
        seed=seed,
        quick=quick,
        types=types,
    )


def _check(graph: Graph) -> None:
    present = np.unique(graph.labels[graph.is_labelled])
    if present.size == 0:
        raise InputError(
            f"{graph.name!r} has no labelled node, so there is nothing to diagnose; "
            f"{remedy('name-label')}"
        )
    if present.size == 1:
        raise InputError(
            f"all labelled nodes of {graph.name!r} are of one class "
            f"({graph.class_names[int(present[0])]!r}); a diagnosis needs at least two classes"
        )


def _has_edges(graph: Graph) -> bool:
    return bool(graph.adjacency.nnz > np.count_nonzero(graph.adjacency.diagonal()))


def _entries(graph: Graph) -> int:
    """Return how many numbers the graph stores."""
    features: Any = graph.features
    if features is None:
        return int(graph.adjacency.nnz)
    return int(graph.adjacency.nnz + (features.nnz if sp.issparse(features) else features.size))


def undefined_notes(metrics: MetricValues) -> list[str]:
    """Return one sentence per reason why metrics are undefined."""
    names: dict[str, list[str]] = {}
    for name, why in metrics.causes.items():
        names.setdefault(why, []).append(name.replace("_", " "))
    return [f"Undefined, as {why}: {', '.join(found)}." for why, found in names.items()]


def _spreads(graph: Graph, metrics: MetricValues, seed: int) -> dict[str, float]:
    """Return the spread of each defined metric over draws of the known labels."""
    found = {}
    for name, value in metrics.values.items():
        if value is None:
            continue
        try:
            found[name] = estimate(
                name,
                graph,
                share=ESTIMATE_SHARE,
                repeats=ESTIMATE_REPEATS,
                rng=np.random.default_rng(seed),
            ).std
        except InputError:
            continue  # too few labels for a draw: no spread is shown
    return found


def _source(graph: Graph) -> str | None:
    """Return the name by which a command line opens the same graph, if there is one."""
    dataset = DATASETS.get(graph.name)
    is_same = dataset is not None and dataset.content_hash == graph.content_hash
    return graph.name if is_same else None


def _next_step(verdict: Verdict, source: str | None) -> NextStep:
    """Return a command for a shell, or for Python if only Python knows the graph."""
    why = SEES_WHICH if verdict.model == "acm-gcn+" else WHY[verdict.kind]
    if verdict.kind == TOO_FEW:
        command = (
            "heterophily.auto(graph)" if source is None else f"heterophily train auto {source}"
        )
    elif source is None:
        command = f"heterophily.train({verdict.model!r}, graph, splits='random', repeats=10)"
    else:
        command = f"heterophily train {verdict.model} {source} --splits random --repeats 10"
    return NextStep(command, why)
