"""Compare models by runs that are finished: portraits, or records of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from heterophily.comparison.compare import Comparison, compare_records
from heterophily.comparison.portrait import Portrait
from heterophily.comparison.portraits import settings_for
from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.intervals import TestSizes
from heterophily.evaluation.run_scores import scores_on_test
from heterophily.evaluation.scores import score_for
from heterophily.evaluation.split_rules import split_remarks_of
from heterophily.learning.result import softmax
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.stores.base import Store


def compare_portraits(
    portraits: Mapping[str, Sequence[Portrait]],
    *,
    graph: Graph | None = None,
    splits: Sequence[Split] | None = None,
) -> Comparison:
    """Compare models that :func:`portraits` trained; the result is that of ``compare``.

    With ``graph`` and the ``splits`` of the portraits the baselines stand beside them. With fewer
    than two models or two splits there are no paired tests.
    """
    first = next(iter(portraits.values()))
    ratio = sum(int(p.test.sum()) for p in first) / sum(p.train_nodes for p in first)
    records = {model: [_record(p) for p in every] for model, every in portraits.items()}
    if graph is None or splits is None:
        return compare_records(records, test_to_train=ratio, score=score_for(first[0].labels))
    return _with_baselines(records, graph, splits, ratio)


def _record(portrait: Portrait) -> Record:
    """Return the record of a portrait, with test scores if an earlier version wrote it."""
    record = portrait.record
    if record.outcome.scores is not None:
        return record
    labels, votes = portrait.labels[portrait.test], softmax(portrait.logits[portrait.test])
    return replace(record, outcome=replace(record.outcome, scores=scores_on_test(labels, votes)))


def _with_baselines(
    records: Mapping[str, Sequence[Record]], graph: Graph, splits: Sequence[Split], ratio: float
) -> Comparison:
    stored = str(next(iter(records.values()))[0].run["split"]["rule"])
    return compare_records(
        records,
        test_to_train=ratio,
        score=score_for(graph.labels),
        beside=baselines(graph, splits),
        sizes=TestSizes.of(graph.labels, splits),
        class_names=graph.class_names,
        remarks=split_remarks_of(graph, splits, stored),
    )


def compare_stored(
    graph: str | Graph,
    models: Sequence[str],
    *,
    store: Store,
    splits: str = "random",
    repeats: int | None = None,
    seed: int = 0,
    engine: str = "auto",
    max_epochs: int | None = None,
) -> Comparison:
    """Compare models by what a store holds already; nothing is trained.

    Runs of the engine asked for count first, then those of torch. A missing run is an error.
    """
    missing, total = 0, 0
    for name in dict.fromkeys((engine, "torch")):
        planner = Planner(seed=seed, repeats=repeats, engine=name, rows_by_data=True)
        settings = settings_for(None, "", graph, splits, max_epochs)
        plan = {model: planner.runs(model, graph, settings, splits) for model in models}
        records = {
            model: list(store.records([run.key for run in runs])) for model, runs in plan.items()
        }
        total = sum(map(len, plan.values()))
        missing = total - sum(map(len, records.values()))
        if not missing:
            runs = next(iter(plan.values()))
            return _with_baselines(
                records,
                planner.graph_of(runs[0]),
                planner.splits_of_runs(runs),
                planner.test_to_train(runs),
            )
    raise InputError(
        f"{missing} of {total} runs are not in {store.name}, and --no-train forbids training "
        "them; leave it out, or run heterophily compare first"
    )
