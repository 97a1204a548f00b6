"""``heterophily train auto``: diagnosis, search, ensemble, and what to do next."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heterophily.cli.columns import columns_of, print_reading
from heterophily.cli.train import calibration_text
from heterophily.cli.trained import kept_facts, predict_command
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.source import GraphSource
    from heterophily.prediction.auto import AutoResult
    from heterophily.prediction.model import TrainedModel

SHOWN = 8  # candidates in the printed table


def train_auto(
    source: GraphSource,
    *,
    splits: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    all_columns: bool,
    store: str | None,
    how: Mapping[str, Any],
) -> None:
    """Run the recipe and print why, what and how good."""
    from heterophily.prediction.auto import auto
    from heterophily.prediction.build import model_of
    from heterophily.prediction.folder import save_model
    from heterophily.runs.stores.url import open_store
    from heterophily.training.interrupts import terminated_like_interrupted
    from heterophily.training.progress import progress_bar

    graph = source.open()
    if not as_json:
        print_reading(source, graph, all_columns=all_columns)
    if splits not in ("random", "fixed"):
        raise InputError(f"--splits {splits}: auto knows random (its own folds) and fixed")
    if splits == "fixed" and graph.splits is None:
        raise InputError(f"{graph.name} has no fixed splits; leave --splits out")
    if how["refit"] and splits != "fixed":
        raise InputError("--refit goes with --splits fixed; auto's own folds train on all nodes")
    start = time.monotonic()
    with (
        open_store(store) as kept_in,
        progress_bar(f"auto on {graph.name}, percent of the time") as progress,
        terminated_like_interrupted() as ending,
    ):
        advance = None
        if progress is not None:
            draw = progress

            def advance(share: float, count: int) -> None:
                draw(min(100, int(100 * share)), 100)

        result = auto(
            graph,
            splits=graph.splits if splits == "fixed" else None,
            progress=advance,
            store=kept_in,
            **how,
        )
    rule = "fixed" if splits == "fixed" else "held-out test nodes, five folds"
    if result.is_refit:
        rule += ", five folds of training and validation nodes"
    model = model_of(
        result,
        rule=rule,
        seed=how["seed"],
        extra=kept_facts(source, graph),
    )
    if out is not None:
        save_model(out, model, overwrite=overwrite)
    if as_json:
        import json

        folder = None if out is None else str(out)
        data = {**result.to_dict(), "columns": columns_of(graph), "model_folder": folder}
        print(json.dumps(data))
    else:
        _print(result, model, seconds=time.monotonic() - start)
        _print_next(model, out, source)
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if splits == "random" and graph.splits is not None:
        print("note: the graph has splits of its own; --splits fixed uses them", file=sys.stderr)
    if graph.notes.one_way and not graph.notes.direction_kept:
        print(
            f"note: {graph.notes.one_way:,} edges have no reverse; if their direction means "
            "something, --directed lets auto try it",
            file=sys.stderr,
        )
    if result.interrupted:
        raise typer.Exit(ending.code)


def _print(result: AutoResult, model: TrainedModel, *, seconds: float) -> None:
    from heterophily.data.wording import count
    from heterophily.evaluation.scores import SCORE_TITLES
    from heterophily.report.evaluation_text import evaluation_lines, score_text
    from heterophily.report.tables import plain

    score, chosen = SCORE_TITLES[result.score], {id(t) for t in result.choice.trials}
    print(f"Diagnosis: {result.verdict.sentence}")
    print("  " + "; ".join(result.verdict.because))
    print(
        f"\nTried {len(result.trials)} candidates ({result.replicas} trainings, {seconds:.0f} s); "
        f"mean validation {score}, * is in the ensemble:"
    )
    rows = [
        [
            ("* " if id(trial) in chosen else "  ") + trial.candidate.family.label,
            "  ".join(f"{key}={value:g}" for key, value in trial.candidate.settings.items()),
            f"{trial.splits} of {len(result.splits)}",
            f"{trial.mean:.4f}",
        ]
        for trial in result.ranking()[:SHOWN]
    ]
    print(plain(["  model", "setting", "splits", f"validation {score}"], rows))
    print(
        f"\nChosen: {model.name}. The ensemble averages {len(result.choice.members)} trained "
        f"networks of {count(len(result.choice.trials), 'setting')}; their validation {score} is "
        f"{result.choice.score:.4f}."
    )
    estimate = result.estimate
    if result.is_refit:
        before = result.estimate_of_choice.evaluation
        print(
            f"Trained again on folds of training and validation nodes: {len(model.votes)} "
            f"networks; test accuracy before {score_text(before.scores['accuracy'], before.sizes)}."
        )
    sets = len(estimate.scores["accuracy"])
    print(
        f"On {estimate.test_nodes} held-out test nodes{f' in each of {sets} sets' * (sets > 1)}, "
        "which no network of the ensemble saw in training or in validation:"
    )
    print("\n".join(evaluation_lines(estimate.evaluation)))
    print(f"\n  {'one network alone':<22} {estimate.single:.4f} accuracy")
    told = calibration_text(estimate.to_dict(), result.temperature)
    print(f"  {'calibration error':<22} {told}")


def _print_next(model: TrainedModel, out: Path | None, source: GraphSource) -> None:
    if out is None:
        print("\nThe model was not saved; add --out FOLDER to keep it.")
        return
    why = model.why_not_inductive
    print(f"\nModel folder: {out} (card.json, weights.safetensors)")
    print(
        "New nodes: yes, predict accepts other graphs." if why is None else f"New nodes: no; {why}."
    )
    print(f"Next: {predict_command(out, source)}")
