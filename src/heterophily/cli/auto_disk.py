"""``heterophily train auto`` on a graph that memory cannot hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.cli.batches import disk_facts, open_any

if TYPE_CHECKING:
    from heterophily.data.source import GraphSource
    from heterophily.prediction.auto_disk import DiskChoice, DiskTrial


def train_auto_on_disk(
    source: GraphSource,
    *,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    store: str | None,
    executor: str,
    how: Mapping[str, Any],
    config: Mapping[str, Any],
) -> None:
    """Try what can be trained by mini-batches, keep the best, and say so."""
    from heterophily.data.memory import limit
    from heterophily.prediction import build
    from heterophily.prediction.auto_disk import auto_on_disk
    from heterophily.prediction.folder import save_model
    from heterophily.runs.executors.choose import executor_of
    from heterophily.runs.stores.url import open_store

    graph, room = open_any(source), limit()
    print(
        f"{graph.name} ({graph.num_nodes:,} nodes, {graph.num_edges:,} edges) is too large for "
        f"full batches in {room / 2**30:,.1f} GB: models are trained by mini-batches on one random "
        "split (60/20/20), and the best on its validation nodes is kept.",
        file=sys.stderr,
    )
    with open_store(store) as kept_in:
        found = auto_on_disk(
            graph,
            limit=room,
            config=config,
            store=kept_in,
            executor=executor_of(executor, 1, is_short=True),
            tell=_line,
            **how,
        )
    network = build.network_of(found.report, found.best.options, found.best.config)
    calibrated = build.calibrate_report(found.report)
    if out is not None:
        kept = build.model_of_report(
            found.report, network, calibrated, seed=how["seed"], extra=disk_facts(graph)
        )
        save_model(out, kept, overwrite=overwrite)
    _show(found, calibrated.to_dict(), out, as_json=as_json)


def _line(trial: DiskTrial) -> None:
    from heterophily.batches.fits import WAYS

    value = "failed" if trial.validation is None else f"{trial.validation:.4f}"
    settings = {**trial.options, "lr": trial.config.lr}
    words = ", ".join(f"{key}={settings[key]}" for key in sorted(settings))
    print(
        f"  {trial.model:<14} {value:>7}  {trial.seconds:6.1f} s  {words} ({WAYS[trial.batches]})",
        file=sys.stderr,
        flush=True,
    )


def _show(
    found: DiskChoice, calibration: Mapping[str, Any], out: Path | None, *, as_json: bool
) -> None:
    from heterophily.evaluation.scores import SCORE_TITLES
    from heterophily.report.evaluation_text import evaluation_lines

    best, report = found.best, found.report
    if as_json:
        import json

        trials = [
            {
                "model": trial.model,
                "batches": trial.batches,
                "options": dict(trial.options),
                "lr": trial.config.lr,
                "validation": trial.validation,
                "seconds": trial.seconds,
            }
            for trial in found.trials
        ]
        data = report.to_dict() | report.evaluation.to_dict()
        data["scores"] |= calibration
        folder = None if out is None else str(out)
        print(json.dumps({**data, "score": found.score, "trials": trials, "model_folder": folder}))
        return
    print(
        f"Chosen: {best.model}, validation {SCORE_TITLES[found.score]} {best.validation:.4f}, the "
        f"best of {len(found.trials)} trials. On the test nodes of its split:"
    )
    print("\n".join(evaluation_lines(report.evaluation)))
    if out is None:
        print("\nThe model was not saved; add --out FOLDER to keep it.")
    else:
        print(f"\nModel folder: {out}")
