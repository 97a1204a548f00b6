"""Compare models by runs that are finished: portraits, or records of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.experiments.compare import Comparison
from heterophily.experiments.planner import Planner
from heterophily.experiments.portrait import Portrait
from heterophily.experiments.portray import settings_for
from heterophily.experiments.records import Record
from heterophily.experiments.split_rules import rule_of
from heterophily.experiments.statistics import all_pairs
from heterophily.experiments.store import Store
from heterophily.experiments.table import CellResult


def compare_portraits(portraits: Mapping[str, Sequence[Portrait]]) -> Comparison:
    """Compare models by their portraits: the same value as :func:`~.compare.compare` gives.

    With fewer than two models or two splits there are no paired tests.
    """
    first = next(iter(portraits.values()))
    ratio = sum(int(p.test.sum()) for p in first) / sum(p.train_nodes for p in first)
    return compare_records(
        {model: [p.record for p in every] for model, every in portraits.items()},
        test_to_train=ratio,
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
        planner = Planner(seed=seed, repeats=repeats, engine=name)
        settings = settings_for(None, "", graph, splits, max_epochs)
        plan = {model: planner.runs(model, graph, settings, splits) for model in models}
        records = {
            model: list(store.records([run.key for run in runs])) for model, runs in plan.items()
        }
        total = sum(map(len, plan.values()))
        missing = total - sum(map(len, records.values()))
        if not missing:
            ratio = planner.test_to_train(next(iter(plan.values())))
            return compare_records(records, test_to_train=ratio)
    raise InputError(
        f"{missing} of {total} runs are not in {store.path}, and --no-train forbids to train "
        "them; leave it out, or run heterophily compare first"
    )


def compare_records(records: Mapping[str, Sequence[Record]], *, test_to_train: float) -> Comparison:
    """Compare models by the records of equal splits."""
    run = next(iter(records.values()))[0].run
    name, stored = run["graph"]["name"], run["split"]["rule"]
    cells = [
        CellResult.of(found, row=model, dataset=name, splits=stored, wanted=len(found))
        for model, found in records.items()
    ]
    values = {c.row: [v for v in c.test if v is not None] for c in cells if c.mean is not None}
    is_paired = len(values) > 1 and min(map(len, values.values())) > 1
    return Comparison(
        graph=name,
        splits=rule_of(stored),
        models=tuple(sorted(cells, key=lambda cell: -(cell.mean or 0.0))),
        tests=all_pairs(values, test_to_train=test_to_train) if is_paired else (),
        remarks=tuple(f"{c.row}: a run diverged, no test" for c in cells if c.mean is None),
    )
