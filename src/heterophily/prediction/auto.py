"""The recipe ``auto``: diagnosis, a first chance for all families, search, ensemble, test."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.checks import UNLABELLED
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.memory import limit
from heterophily.data.splits import SplitBatch, check_seed
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.direction import DirectionSignal, direction_signal
from heterophily.errors import InputError, lookup
from heterophily.evaluation.coverage import gap_remarks
from heterophily.evaluation.scores import SCORES, score_for
from heterophily.filters.direction import is_one_way, turned
from heterophily.layers.feature_scaling import feature_kind
from heterophily.native.library import engine as native_library
from heterophily.prediction.candidates import Candidate, draw, families_for, in_order
from heterophily.prediction.cost import WorkSize
from heterophily.prediction.ensemble import Ensemble, choose
from heterophily.prediction.estimate import Estimate, estimate, validated_temperature
from heterophily.prediction.families import Family
from heterophily.prediction.folds import FOLDS, held_out_folds, refolded
from heterophily.prediction.leaderboard import Leaderboard, Standing
from heterophily.prediction.members import SplitTrainer
from heterophily.prediction.proposals import NEAR
from heterophily.prediction.refit import SEARCH_SHARE, train_again
from heterophily.prediction.result import AutoResult
from heterophily.prediction.search import EXACT, Search, rungs_of
from heterophily.prediction.time_spent import TimeSpent
from heterophily.prediction.trial import Clock, Trial, leader_of, ranked
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import this_machine
from heterophily.runs.stores.base import Store, check_is_store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.training.cores import usable_cores

MINUTES = 3.0
SEEDS = 5
SHORT = 1.0
"""With at most so many minutes the diagnosis is the quick one, and no worker process starts."""
MOST_MINUTES = 525_600
"""A year."""

BY_CLASS = ("balanced-accuracy", "macro-f1")
"""Scores for which every class counts alike, so it does in the loss."""

SPENT = "time-spent.jsonl"
"""Beside the artefacts of a store: the seconds of each training of a search."""


def check_minutes(minutes: float) -> None:
    """Refuse a time that is none, or that never ends."""
    if not (isinstance(minutes, Real) and 0 < minutes <= MOST_MINUTES):
        raise InputError(f"minutes={minutes}; it must be above 0 and at most {MOST_MINUTES:,}")


def auto(
    graph: GraphLike,
    *,
    splits: SplitBatch | None = None,
    minutes: float = MINUTES,
    score: str = "auto",
    seed: int = 0,
    inductive: bool = False,
    refit: bool = False,
    families: Sequence[str] | None = None,
    max_trials: int | None = None,
    seeds: int = SEEDS,
    workers: int | None = None,
    engine: str = "auto",
    config: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.monotonic,
    progress: Callable[[Standing], None] | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
) -> AutoResult:
    """Choose models for a graph, train an ensemble of them, and estimate how good it is.

    1. The diagnosis, from training and validation labels of the first split, orders the families
       of models: its favourites open the search. It excludes none.
    2. Every family has a first chance: one strong setting, a short training where a whole one
       would take long. Then families near the leader try more settings; what is far behind ends
       early. On a directed graph a few families try their edges both ways, as given and reversed,
       and the others follow the best of them.
    3. The best finalist votes, and whoever makes the right classes of validation nodes more
       probable: probabilities are averaged. Voters, then the other finalists, are trained with more
       seeds, finalists are ranked by all of them, and the choice of voters is made again. With
       ``refit`` the voters are then trained again on five folds of training and validation nodes.
    4. A temperature is fitted on validation nodes, and used where it clearly helps there.
    5. Test nodes are read at the end: on them vote only members that saw none of them. With
       ``refit`` both are judged, the voters as they were chosen and those trained again.

    It ends before the time is up when nothing is left to gain: every validation node is right, or
    strong settings are tried and 20 candidates brought no progress.

    Parameters
    ----------
    graph
        The graph, in any form that :func:`heterophily.as_graph` takes.
    splits
        Default: :func:`~heterophily.prediction.folds.held_out_folds`. With splits whose test sets
        differ (those of Geom-GCN), a node may be tested in one split and validate the choice in
        another, as in the paper.
    minutes
        Time for steps 1 to 3 on ``clock``; up to a minute the diagnosis is the quick one, and no
        worker process is started. One training for each worker is done in any case, and what was
        begun is finished.
    score
        A name in :data:`~heterophily.evaluation.scores.SCORES`, or ``"auto"``: by the sizes of
        the classes (:func:`~heterophily.evaluation.scores.score_for`). When every class counts
        alike in the score, it does in the loss too.
    inductive
        Leave out models whose weights belong to the nodes of this graph.
    refit
        Let the labels of validation nodes, once they have made the choice, train too: 64 % of the
        labels instead of 48 % with splits of Geom-GCN, and other members for every fold. Of the
        time 40 % go there. Of use with splits that are given: the folds of the default have
        no nodes that only validate.
    families
        Labels of the families to choose from, as in the leaderboard; default: all.
    max_trials, seeds
        Limits on candidates and on seeds of a finalist.
    config
        Changed fields of :class:`TrainConfig`, for all candidates.
    progress
        Called with a :class:`~heterophily.prediction.leaderboard.Standing` after each batch of
        trainings.
    store
        Where finished trainings are looked for and kept. The same call goes on where an earlier one
        was ended, the time that it spent included; with more ``minutes`` it searches further.
    executor
        Who trains; by default this machine.
    """
    graph = as_graph(graph)
    check_minutes(minutes)
    check_seed(seed)
    if refit and splits is None:
        raise InputError(
            "refit=True is for splits that are given: without them auto trains on folds already"
        )
    batch = held_out_folds(graph.labels, seed=seed) if splits is None else splits
    folds = refolded(batch, graph.labels, seed=seed) if refit else batch
    visible = _visible(graph, batch)
    name = score_for(visible.labels) if score == "auto" else score
    scored = lookup(SCORES, "score", name)
    start = clock()
    verdict = diagnose(visible, seed=seed, quick=minutes <= SHORT).verdict
    direction = direction_of(graph, splits=batch, seed=seed)
    count = workers or usable_cores()
    chosen_config = {**({"class_weight": "balanced"} if name in BY_CLASS else {}), **(config or {})}
    size, total = WorkSize.of(graph), 60 * minutes * count
    found, too_large = _families(graph, size, inductive=inductive, only=families, workers=count)
    hurry: dict[str, Any] = {"size": size, "seed": seed, "total": total}
    hurry["trainings"] = rungs_of(batch)[0]
    found = in_order(
        found,
        verdict.kind,
        helpful=next(iter(verdict.helpful), ""),
        direction_tells=direction is not None and direction.tells,
        **hurry,
    )
    with ExitStack() as stack:
        kept_in = stack.enter_context(MemoryStore()) if store is None else store
        check_is_store(kept_in)
        memory = None if kept_in.reach == "process" else kept_in.artefact_folder / SPENT
        if memory is not None:
            memory.parent.mkdir(parents=True, exist_ok=True)
        spent = TimeSpent(clock, since=start, memory=memory, workers=count)
        timer = Clock(60 * minutes, spent.now)
        trainer = SplitTrainer(
            graph,
            batch,
            seed=seed,
            workers=count,
            engine=engine,
            config=chosen_config,
            store=kept_in,
            executor=stack.enter_context(executor or _executor(count, minutes)),
            spent=spent,
        )
        again = trainer.on(folds)
        part = timer.first(SEARCH_SHARE if refit else 1.0)
        board = Leaderboard(graph, batch, name)

        def report() -> None:
            if progress is not None:
                trained = trainer.trained + again.trained
                progress(
                    Standing(timer.share, timer.left, trained, lambda: board.rows(search.trials))
                )

        search = Search(
            trainer, scored, part, name, max_trials=max_trials, progress=report, size=size
        )
        finalists: list[Trial] = []
        interrupted = False
        try:
            finalists = search.run(draw(found, **hurry))
            if finalists and finalists[0].mean < EXACT:
                voters = choose(finalists, graph.labels, batch, scored, by_class=name in BY_CLASS)
                search.add_seeds(voters.trials, seeds=seeds)
                others = [trial for trial in finalists if trial not in voters.trials]
                search.add_seeds(others, seeds=seeds)
        except KeyboardInterrupt:
            interrupted = True
            finalists = finalists or _best_so_far(search.trials)
        if not finalists:
            reasons = _failed(trainer.failures)
            raise InputError(
                "no candidate could be trained and scored: every one diverged, or validation "
                "nodes are of one class; check features and labels"
                + "".join(f" ({reason})" for reason in reasons[:1])
            )
        finalists = ranked(finalists)
        choice = ensemble = choose(
            finalists, graph.labels, batch, scored, by_class=name in BY_CLASS
        )
        if refit and not interrupted:
            try:
                second = Search(again, scored, timer, name, progress=report)
                ensemble = train_again(second, choice, folds=FOLDS, seeds=seeds)
            except KeyboardInterrupt:
                interrupted = True
        for trial in (*finalists, *ensemble.trials):
            for member in trial.members.values():
                member.load()
    folds = batch if ensemble is choice else folds
    temperature = validated_temperature(choice.members, graph.labels, batch)
    judged = _judge(ensemble, graph, folds, batch, name, temperature)
    return AutoResult(
        graph=graph,
        splits=batch,
        folds=folds,
        verdict=verdict,
        direction=direction,
        families=found,
        score=name,
        trials=tuple(search.trials),
        finalists=tuple(finalists),
        choice=choice,
        ensemble=ensemble,
        temperature=temperature,
        estimate=judged,
        estimate_of_choice=(
            judged if ensemble is choice else _judge(choice, graph, batch, batch, name, temperature)
        ),
        replicas=trainer.trained + again.trained,
        notes=(
            *_gaps(graph, batch),
            *judged.evaluation.remarks,
            *_untried(search.left_out, too_large),
            *_failed(trainer.failures),
            *trainer.notes,
            *_without_engine(engine),
        ),
        interrupted=interrupted,
        config=chosen_config,
    )


def _executor(workers: int, minutes: float) -> Executor:
    """Return who trains: this process alone where worker processes would cost more than they give.

    A worker starts Python and prepares the graph anew; the native engine needs none.
    """
    return InProcess(workers) if minutes <= SHORT else this_machine(workers)


def _families(
    graph: Graph,
    size: WorkSize,
    *,
    inductive: bool,
    only: Sequence[str] | None,
    workers: int,
) -> tuple[tuple[Family, ...], tuple[Family, ...]]:
    """Return the families for a graph, and those that would not fit into memory."""
    found = families_for(
        inductive=inductive,
        one_way=graph.is_directed and is_one_way(graph.adjacency),
        features=feature_kind(graph),
        has_features=bool(graph.num_features),
        has_edges=bool(graph.adjacency.nnz),
        has_types=len(graph.type_names) > 1,
    )
    if not found:
        raise InputError(
            "the graph has neither edges nor features: there is nothing to learn from; add columns "
            "to the node table, or edges"
        )
    if only is not None:
        known = {family.label: family for family in found}
        bases = {label.partition(" (edge_direction")[0] for label in only}
        for label in only:
            lookup({**known, **dict.fromkeys(f.title or f.model for f in found)}, "family", label)
        found = tuple(f for f in found if f.label in only or (f.title or f.model) in bases)
    room = limit() / workers / 1e9
    fits = {f: next(draw([f], seed=0, size=size)[f]).gigabytes(size) <= room for f in found}
    usable = tuple(family for family in found if fits[family])
    if not usable:
        smallest = min(Candidate(f, {}).gigabytes(size) for f in found)
        raise InputError(
            f"no model fits into memory: the smallest needs about {smallest:.1f} GB for each of "
            f"{workers} workers; use fewer workers, or a machine with more memory"
        )
    return usable, tuple(family for family in found if not fits[family])


def _untried(left_out: Sequence[Family], too_large: Sequence[Family]) -> tuple[str, ...]:
    """Say which families had no chance, and what would give them one."""
    notes = []
    if left_out:
        names = ", ".join(dict.fromkeys(family.label for family in left_out))
        notes.append(f"not tried, for lack of time: {names}; more --minutes would try them")
    if too_large:
        names = ", ".join(dict.fromkeys(family.label for family in too_large))
        notes.append(f"not tried, for lack of memory: {names}; fewer --workers leave more for each")
    return tuple(notes)


def _without_engine(engine: str) -> list[str]:
    """Say when the native engine is not there; that torch trains some families is no news."""
    found = native_library()
    if engine != "auto" or found.library is not None:
        return []
    return [f"trained with torch, not with the native engine: {found.reason}"]


def _failed(failures: Mapping[str, str]) -> list[str]:
    return [f"{label} could not be trained: {reason}" for label, reason in failures.items()]


def _gaps(graph: Graph, splits: SplitBatch) -> tuple[str, ...]:
    """Say which classes no model learns and no score judges; folds may lack validation nodes."""
    return gap_remarks(graph.labels, splits, graph.class_names, "random", parts=("train", "test"))


def _judge(
    ensemble: Ensemble,
    graph: Graph,
    splits: SplitBatch,
    given: SplitBatch,
    score: str,
    temperature: float,
) -> Estimate:
    """Return how good an ensemble is.

    Baselines are fitted on the splits that were given, not on folds of them.
    """
    return estimate(
        ensemble.members, graph, splits, temperature=temperature, score=score, beside=given
    )


def _visible(graph: Graph, splits: SplitBatch) -> Graph:
    """Return what the diagnosis sees; edges go both ways there, as in the paper."""
    both = turned(graph.adjacency, "both") if graph.is_directed else graph.adjacency
    labels = visible_labels(graph.labels, splits)
    return graph.replace(adjacency=both, is_directed=False, labels=labels, splits=None)


def visible_labels(labels: NDArray[np.int64], splits: SplitBatch) -> NDArray[np.int64]:
    """Return the labels of the first split's training and validation nodes; others are unknown."""
    first = splits[0]
    return np.where(first.train | first.validation, labels, UNLABELLED)


def direction_of(
    directed: Graph, *, splits: SplitBatch | None = None, seed: int = 0
) -> DirectionSignal | None:
    """Say whether the direction of edges goes with the labels that a search on these splits sees.

    Without ``splits`` they are those that :func:`auto` draws itself.
    """
    batch = held_out_folds(directed.labels, seed=seed) if splits is None else splits
    labels = visible_labels(directed.labels, batch)
    return direction_signal(directed.replace(labels=labels, splits=None), seed=seed)


def _best_so_far(trials: Sequence[Trial]) -> list[Trial]:
    """Return the leader; Ctrl-C before any raises again."""
    usable = [trial for trial in trials if trial.members and math.isfinite(trial.mean)]
    if not usable:
        raise KeyboardInterrupt
    return [leader_of(usable, NEAR)]
