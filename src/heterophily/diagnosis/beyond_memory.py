"""The diagnosis of a graph that memory cannot hold, once it was counted where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heterophily.data.report import GraphReport
from heterophily.data.wording import capital
from heterophily.diagnosis.diagnose import (
    NOTHING_COMPARED,
    Diagnosis,
    NextStep,
    undefined_notes,
)
from heterophily.diagnosis.probe import check_labels, probe_columns
from heterophily.diagnosis.remarks import metric_remarks
from heterophily.diagnosis.sampled_columns import SampledColumns
from heterophily.diagnosis.shuffle import EdgeChance
from heterophily.diagnosis.verdict import Evidence, judge
from heterophily.diagnosis.words import WHY
from heterophily.errors import InputError
from heterophily.metrics.catalog import compute_metrics
from heterophily.metrics.statistics import LabelStatistics


@dataclass(frozen=True, eq=False)
class Held:
    """A graph beyond memory: what was counted, and who can be asked for more."""

    counted: LabelStatistics
    report: GraphReport
    columns: Callable[[], SampledColumns]
    chance: Callable[[], EdgeChance | None]
    where: str
    notes: tuple[str, ...]

    def diagnose(self, *, quick: bool, seed: int, next_command: str) -> Diagnosis:
        """Compute the metrics, probe the sample, and judge."""
        counted = self.counted
        metrics = compute_metrics(counted)
        notes = [self.notes[0], *undefined_notes(metrics), *self.notes[1:]]
        probe, chance = None, None
        has_edges = counted.num_edges > 0
        if not has_edges:
            notes.append(NOTHING_COMPARED)
        else:
            chance = self.chance()
            try:
                check_labels(counted.name, counted.sizes)
                probe = probe_columns(self.columns)
            except InputError as error:
                notes.append(f"{capital(str(error))}.")
        if quick and probe is not None:
            notes.append("Quick: linear classifiers only; they may miss what trees would find.")
        if counted.num_labelled < counted.num_nodes:
            notes.append(
                f"{counted.num_labelled:,} of {counted.num_nodes:,} nodes are labelled: the "
                "metrics are estimates from these labels."
            )
        verdict = judge(Evidence(has_edges, counted.num_labelled, probe, chance))
        notes += metric_remarks(None, metrics, verdict)
        return Diagnosis(
            report=self.report,
            verdict=verdict,
            metrics=metrics,
            probe=probe,
            next=NextStep(next_command, WHY[verdict.kind]),
            notes=tuple(notes),
            seed=seed,
            quick=quick,
            counted_by=self.where,
        )


def check_classes(counted: LabelStatistics) -> None:
    """Refuse a graph whose labelled nodes are all of one class, or that has none."""
    present = np.flatnonzero(counted.sizes)
    if present.size >= 2:
        return
    if not present.size:
        raise InputError(f"no node of {counted.name!r} has a label; a diagnosis needs labels")
    raise InputError(
        f"all labelled nodes of {counted.name!r} are of one class "
        f"({counted.class_names[int(present[0])]!r}); a diagnosis needs at least two classes"
    )


def report_of(counted: LabelStatistics, **facts: object) -> GraphReport:
    """Return the facts about a graph that was counted; connected components are not counted."""
    sizes = {name: int(n) for name, n in zip(counted.class_names, counted.sizes, strict=True)}
    given: dict[str, object] = {
        "content_hash": "",
        "zero_weight_edges_dropped": 0,
        "unequal_weights": 0,
        "zero_feature_rows": 0,
        "fixed_splits": 0,
        "remarks": (),
        "one_way_edges": 0,
        "direction_dropped": False,
        **facts,
    }
    return GraphReport(
        name=counted.name,
        nodes=counted.num_nodes,
        edges=counted.num_edges,
        classes=counted.num_classes,
        class_sizes=sizes,
        is_directed=counted.is_directed,
        is_weighted=False,
        isolated_nodes=counted.isolated,
        connected_components=None,
        largest_component=None,
        unlabelled_nodes=counted.num_nodes - counted.num_labelled,
        classes_with_one_node=tuple(name for name, size in sizes.items() if size == 1),
        edge_types={},
        **given,  # type: ignore[arg-type]
    )
