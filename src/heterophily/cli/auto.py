"""``heterophily train auto``: diagnosis, search, ensemble, and what to do next."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from heterophily.cli.auto_live import live_leaderboard
from heterophily.cli.columns import columns_of, print_reading
from heterophily.cli.train_text import calibration_text
from heterophily.cli.trained import kept_facts, predict_command
from heterophily.data.wording import count
from heterophily.errors import InputError, lookup

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.data.source import GraphSource
    from heterophily.data.splits import SplitBatch
    from heterophily.diagnosis.direction import DirectionSignal
    from heterophily.prediction.model import TrainedModel
    from heterophily.prediction.result import AutoResult


def train_auto(
    source: GraphSource,
    *,
    splits: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    all_columns: bool,
    store: str | None,
    executor: str | None,
    how: Mapping[str, Any],
) -> None:
    """Run the recipe and print why, what and how good."""
    from heterophily.evaluation.scores import SCORES
    from heterophily.prediction.auto import MINUTES, auto, check_minutes
    from heterophily.prediction.build import model_of
    from heterophily.prediction.folder import save_model
    from heterophily.prediction.folds import FOLDS
    from heterophily.runs.executors.choose import executor_of
    from heterophily.runs.stores.url import open_store
    from heterophily.training.interrupts import terminated_like_interrupted

    check_minutes(how.get("minutes", MINUTES))
    if (score := how.get("score", "auto")) != "auto":
        lookup(SCORES, "score", score)
    trained_by = None if executor is None else executor_of(executor, how["workers"])
    graph = source.open()
    if splits not in ("random", "fixed"):
        raise InputError(f"--splits {splits}: auto knows random (its own folds) and fixed")
    if splits == "fixed" and graph.splits is None:
        raise InputError(f"{graph.name} has no fixed splits; leave --splits out")
    if how["refit"] and splits != "fixed":
        raise InputError("--refit goes with --splits fixed; auto's own folds train on all nodes")
    start = time.monotonic()
    given = graph.splits if splits == "fixed" else None
    source, graph, signal = _with_direction(source, graph, given, seed=how["seed"])
    if not as_json:
        print_reading(source, graph, all_columns=all_columns)
        if signal is not None:
            print(_about(signal))
        print(_plan(graph, how))
    with (
        open_store(store) as kept_in,
        live_leaderboard(graph.name, FOLDS if given is None else len(given)) as progress,
        terminated_like_interrupted() as ending,
    ):
        result = auto(
            graph,
            splits=given,
            progress=progress,
            store=kept_in,
            executor=trained_by,
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
            f"note: {graph.notes.one_way:,} edges have no reverse; their direction does not "
            "clearly go with the labels and is not used; --directed lets auto try it all the same",
            file=sys.stderr,
        )
    if result.interrupted:
        raise typer.Exit(ending.code)


def _about(signal: DirectionSignal) -> str:
    """Say why edges are read with their direction."""
    return (
        "The direction of edges goes with the labels: linear classifiers that see it gain "
        f"{100 * signal.gain.value:.1f} points (95 % interval {100 * signal.gain.low:+.1f} to "
        f"{100 * signal.gain.high:+.1f}). Models are tried with messages along outgoing edges, "
        "along incoming edges, and along both (--undirected: along both alone)."
    )


def _with_direction(
    source: GraphSource, graph: Graph, splits: SplitBatch | None, *, seed: int
) -> tuple[GraphSource, Graph, DirectionSignal | None]:
    """Return the graph with the direction of its edges, if nobody said how to read it and the
    direction goes with the labels of nodes that are not tested; and how much it tells."""
    from heterophily.prediction.auto import direction_of

    asked = source.resolved()
    if asked.direction is not None or not graph.notes.one_way or graph.notes.direction_kept:
        return source, graph, None
    kept = source.replace(direction="keep")
    directed = kept.open()
    signal = direction_of(directed, splits=splits, seed=seed)
    if signal is None or not signal.tells:
        return source, graph, None
    return kept, directed, signal


def _plan(graph: Graph, how: Mapping[str, Any]) -> str:
    """Say before it starts how long a first chance of every family takes, and how much there is."""
    from heterophily.prediction.auto import MINUTES
    from heterophily.prediction.candidates import draw, families_for
    from heterophily.prediction.cost import WorkSize
    from heterophily.report.live import duration
    from heterophily.training.cores import usable_cores

    size, workers = WorkSize.of(graph), how["workers"] or usable_cores()
    families = families_for(
        inductive=how["inductive"],
        one_way=graph.notes.direction_kept and graph.notes.one_way > 0,
        has_features=bool(graph.num_features),
        has_edges=bool(graph.adjacency.nnz),
        has_types=len(graph.type_names) > 1,
    )
    total = 60 * how.get("minutes", MINUTES) * workers
    first = [next(f) for f in draw(families, seed=0, size=size, total=total).values()]
    whole = sum(candidate.seconds(size) for candidate in first) / workers
    there = duration(60 * how.get("minutes", MINUTES))
    return (
        f"The search may take {there} (--minutes). It ends earlier when further models no longer "
        f"improve the result. To train {count(len(families), 'family', 'families')} of models once "
        f"takes about {duration(max(1.0, whole))} on {count(workers, 'core')} (an estimate)."
    )


def _print(result: AutoResult, model: TrainedModel, *, seconds: float) -> None:
    from heterophily.evaluation.scores import SCORE_TITLES
    from heterophily.prediction.auto_text import (
        cells,
        header,
        sentence,
        shown_rows,
        top_lines,
        validation_use,
    )
    from heterophily.report.evaluation_text import evaluation_lines, score_text
    from heterophily.report.tables import plain

    score = SCORE_TITLES[result.score]
    print(f"Diagnosis: {result.verdict.sentence}")
    for reason in result.verdict.because:
        print(f"  - {reason}")
    print(
        f"\nTried {count(len(result.trials), 'model', 'models and settings')} "
        f"({count(result.replicas, 'training')}, {seconds:.0f} s), ranked by mean {score} on "
        "validation nodes. Models marked * vote together, as an ensemble:"
    )
    rows = [cells(row, len(result.splits)) for row in shown_rows(result)]
    print(plain(header(result.score), rows))
    print(f"\n{sentence(result)}")
    print(validation_use(result))
    estimate = result.estimate
    if result.is_refit:
        before = result.estimate_of_choice.evaluation
        print(
            f"After refit {len(model.votes)} trained models vote; test accuracy before "
            f"{score_text(before.scores['accuracy'], before.sizes)}."
        )
    sets = len(estimate.scores["accuracy"])
    print(
        f"On {estimate.test_nodes} held-out test nodes{f' in each of {sets} sets' * (sets > 1)}, "
        "which no model of the ensemble saw in training or in validation:"
    )
    print("\n".join([*evaluation_lines(estimate.evaluation), *top_lines(result)]))
    print(f"\n  {'single model':<22} {estimate.single:.4f} accuracy (mean over the ensemble)")
    if result.temperature == 1.0:
        error = estimate.mean("calibration-error")
        told = f"{error:.4f}; probabilities stay as they are: rescaling did not clearly help"
    else:
        told = calibration_text(estimate.to_dict(), result.temperature)
    print(f"  {'calibration error':<22} {told}")


def _print_next(model: TrainedModel, out: Path | None, source: GraphSource) -> None:
    if out is None:
        print("\nThe model was not saved; add --out FOLDER to keep it.")
        return
    why = model.why_not_inductive
    print(f"\nModel folder: {out} (card.json, weights.safetensors)")
    print(
        "New nodes: yes, predict also takes nodes that were not in training."
        if why is None
        else f"New nodes: no; {why}."
    )
    print(f"Next: {predict_command(out, source)}")
