"""The recipe ``auto``: diagnosis, candidates, successive halving, an ensemble, its estimate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.data.graph import UNLABELLED, Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.splits import SplitBatch
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.verdict import Verdict
from heterophily.errors import InputError, lookup
from heterophily.evaluation.coverage import gap_remarks
from heterophily.evaluation.scores import SCORES, score_for
from heterophily.filters.direction import is_one_way, turned
from heterophily.prediction.candidates import Family, draw, families_for
from heterophily.prediction.ensemble import Ensemble, choose
from heterophily.prediction.estimate import Estimate, estimate, validated_temperature
from heterophily.prediction.folds import FOLDS, held_out_folds, refolded
from heterophily.prediction.members import SplitTrainer
from heterophily.prediction.refit import SEARCH_SHARE, train_again
from heterophily.prediction.search import Clock, Search, Trial, ranked
from heterophily.prediction.time_spent import TimeSpent
from heterophily.runs.executors.local import this_machine
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.training.cores import usable_cores

if TYPE_CHECKING:
    from heterophily.prediction.predict import Predictions

MINUTES = 3.0
SEEDS = 5
QUICK_BELOW = 0.5
"""With less than so many minutes the diagnosis is the quick one."""

SPENT = "time-spent.jsonl"
"""Beside the artefacts of a store: the seconds of each training of a search."""

CONFIG: Mapping[str, Any] = {"stopping": "patience", "window": 100, "max_epochs": 1000}
"""Where auto departs from the paper's protocol: a training ends 100 epochs after its lowest
validation loss, for time."""


@dataclass(frozen=True, eq=False)
class AutoResult:
    """What was chosen, why, and how good it is.

    Parameters
    ----------
    splits, choice
        The splits that chose, and the members that were chosen on them.
    folds, ensemble
        The splits of the members that vote, and these members: the same, unless they were trained
        again on folds.
    estimate, estimate_of_choice
        How good the ensemble is, and the choice; the same, unless they were trained again.
    """

    graph: Graph
    splits: SplitBatch
    folds: SplitBatch
    verdict: Verdict
    families: tuple[Family, ...]
    score: str
    trials: tuple[Trial, ...]
    finalists: tuple[Trial, ...]
    choice: Ensemble
    ensemble: Ensemble
    temperature: float
    estimate: Estimate
    estimate_of_choice: Estimate
    replicas: int
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_refit(self) -> bool:
        """Whether the voters were trained again on folds of training and validation nodes."""
        return self.ensemble is not self.choice

    def predict(self, graph: GraphLike = None) -> Predictions:
        """Let the ensemble vote on a graph, by default on the one it was chosen for."""
        from heterophily.prediction.build import model_of
        from heterophily.prediction.predict import predict

        return predict(model_of(self), self.graph if graph is None else graph)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: verdict, candidates, choice, test estimate."""
        return {
            "graph": self.graph.name,
            "verdict": self.verdict.to_dict(),
            "score": self.score,
            "candidates": [_row(trial) for trial in self.ranking()],
            "chosen": [_row(trial) for trial in self.choice.trials],
            "members": len(self.ensemble.members),
            "validation": {
                "single": self.finalists[0].mean,
                "by_finalists": list(self.choice.scores),
                "ensemble": self.choice.score,
            },
            "temperature": self.temperature,
            "test": self.estimate.to_dict(),
            "evaluation": self.estimate.evaluation.to_dict(),
            "test_single_member_accuracy": self.estimate.single,
            "refit": self.is_refit,
            **({"test_before_refit": self.estimate_of_choice.to_dict()} if self.is_refit else {}),
            "test_nodes": self.estimate.test_nodes,
            "replicas": self.replicas,
            "notes": list(self.notes),
            "interrupted": self.interrupted,
        }

    def ranking(self) -> list[Trial]:
        """Return all trials: those with more trainings first, then by validation score."""
        return ranked(self.trials)


def _row(trial: Trial) -> dict[str, Any]:
    mean = trial.mean
    return {
        "model": trial.candidate.family.label,
        "settings": dict(trial.candidate.settings),
        "splits": trial.splits,
        "trainings": len(trial.scores),
        "validation": mean if math.isfinite(mean) else None,
    }


def auto(
    graph: GraphLike,
    *,
    splits: SplitBatch | None = None,
    minutes: float = MINUTES,
    score: str = "auto",
    seed: int = 0,
    inductive: bool = False,
    refit: bool = False,
    max_trials: int | None = None,
    seeds: int = SEEDS,
    workers: int | None = None,
    engine: str = "auto",
    config: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.monotonic,
    progress: Callable[[float, int], None] | None = None,
    store: Store | None = None,
) -> AutoResult:
    """Choose a model for a graph, train an ensemble of it, and estimate how good it is.

    1. The diagnosis, from training and validation labels of the first split, gives the models.
    2. Successive halving over their settings, by the mean validation score over the splits. On a
       directed graph each model is tried with its edges both ways, as given and reversed, and goes
       on with one of them.
    3. The best finalist votes, and whoever makes the right classes of validation nodes more
       probable: probabilities are averaged. Voters, then the other finalists, are trained with more
       seeds, finalists are ranked by all of them, and the choice of voters is made again. With
       ``refit`` the voters are then trained again on five folds of training and validation nodes.
    4. A temperature is fitted on validation nodes.
    5. Test nodes are read at the end: on them vote only members that saw none of them. With
       ``refit`` both are judged, the voters as they were chosen and those trained again.

    Parameters
    ----------
    graph
        The graph, in any form that :func:`heterophily.as_graph` takes.
    splits
        Default: :func:`~heterophily.prediction.folds.held_out_folds`. With splits whose test sets
        differ (those of Geom-GCN), a node may be tested in one split and validate the choice in
        another, as in the paper.
    minutes
        Time for steps 1 to 3 on ``clock``; with less than half a minute the diagnosis is the quick
        one. One network for each worker is trained in any case, and what was begun is finished.
    score
        A name in :data:`~heterophily.evaluation.scores.SCORES`, or ``"auto"``: ROC AUC for two
        classes of which one holds at most a quarter of the nodes, else accuracy.
    inductive
        Leave out models whose weights belong to the nodes of this graph.
    refit
        Let the labels of validation nodes, once they have made the choice, train too: 64 % of the
        labels instead of 48 % with splits of Geom-GCN, and other members for every fold. Of the
        time 40 % go there. Of use with splits that are given: the folds of the default have
        no nodes that only validate.
    max_trials, seeds
        Limits on candidates and on seeds of a finalist.
    config
        Changed fields of :class:`TrainConfig`, for all candidates.
    progress
        Called with the share of the time that has passed and the number of replicas so far.
    store
        Where finished trainings are looked for and kept. The same call goes on where an earlier one
        was ended, the time that it spent included; with more ``minutes`` it searches further.
    """
    graph = as_graph(graph)
    if not minutes > 0:
        raise InputError(f"minutes={minutes}; it must be above 0")
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
    verdict = diagnose(visible, seed=seed, quick=minutes < QUICK_BELOW).verdict
    count = workers or usable_cores()
    with ExitStack() as stack:
        kept_in = stack.enter_context(MemoryStore()) if store is None else store
        memory = None if kept_in.reach == "process" else kept_in.artefact_folder / SPENT
        if memory is not None:
            memory.parent.mkdir(parents=True, exist_ok=True)
        spent = TimeSpent(clock, since=start, memory=memory, workers=count)
        timer = Clock(60 * minutes, spent.now)
        one_way = graph.is_directed and is_one_way(graph.adjacency)
        families = families_for(verdict.kind, inductive=inductive, one_way=one_way)
        chosen_config = {**CONFIG, **(config or {})}
        trainer = SplitTrainer(
            graph,
            batch,
            seed=seed,
            workers=count,
            engine=engine,
            config=chosen_config,
            store=kept_in,
            executor=stack.enter_context(this_machine(count)),
            spent=spent,
        )
        again = trainer.on(folds)

        def report() -> None:
            if progress is not None:
                progress(timer.share, trainer.trained + again.trained)

        part = timer.first(SEARCH_SHARE if refit else 1.0)
        search = Search(trainer, scored, part, name, max_trials=max_trials, progress=report)
        finalists: list[Trial] = []
        interrupted = False
        try:
            finalists = search.run(draw(families, seed=seed))
            voters = choose(finalists, graph.labels, batch, scored).trials if finalists else ()
            search.add_seeds(voters, seeds=seeds)
            search.add_seeds([trial for trial in finalists if trial not in voters], seeds=seeds)
        except KeyboardInterrupt:
            interrupted = True
            finalists = finalists or _best_so_far(search.trials)
        if not finalists:
            raise InputError(
                "no candidate could be trained and scored: every one diverged, or validation "
                "nodes are of one class; check features and labels"
            )
        finalists = ranked(finalists)
        choice = ensemble = choose(finalists, graph.labels, batch, scored)
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
    temperature, judged = _judge(ensemble, graph, folds, batch, name)
    return AutoResult(
        graph=graph,
        splits=batch,
        folds=folds,
        verdict=verdict,
        families=families,
        score=name,
        trials=tuple(search.trials),
        finalists=tuple(finalists),
        choice=choice,
        ensemble=ensemble,
        temperature=temperature,
        estimate=judged,
        estimate_of_choice=(
            judged if ensemble is choice else _judge(choice, graph, batch, batch, name)[1]
        ),
        replicas=trainer.trained + again.trained,
        notes=(*_gaps(graph, batch), *judged.evaluation.remarks, *trainer.notes),
        interrupted=interrupted,
        config=chosen_config,
    )


def _gaps(graph: Graph, splits: SplitBatch) -> tuple[str, ...]:
    """Say which classes no model learns and no score judges; folds may lack validation nodes."""
    return gap_remarks(graph.labels, splits, graph.class_names, "random", parts=("train", "test"))


def _judge(
    ensemble: Ensemble, graph: Graph, splits: SplitBatch, given: SplitBatch, score: str
) -> tuple[float, Estimate]:
    """Return the temperature of an ensemble, by validation nodes, and how good it is.

    Baselines are fitted on the splits that were given, not on folds of them.
    """
    members = ensemble.members
    temperature = validated_temperature(members, graph.labels, splits)
    found = estimate(members, graph, splits, temperature=temperature, score=score, beside=given)
    return temperature, found


def _visible(graph: Graph, splits: SplitBatch) -> Graph:
    """Return what the diagnosis sees: labels of the first split's training and validation nodes.

    Edges go both ways there, as in the paper.
    """
    first = splits[0]
    labels = np.where(first.train | first.validation, graph.labels, UNLABELLED)
    both = turned(graph.adjacency, "both") if graph.is_directed else graph.adjacency
    return graph.replace(adjacency=both, is_directed=False, labels=labels, splits=None)


def _best_so_far(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trial among those on the most splits; Ctrl-C before any raises again."""
    usable = [trial for trial in trials if trial.members and math.isfinite(trial.mean)]
    if not usable:
        raise KeyboardInterrupt
    return [max(usable, key=lambda trial: (trial.splits, trial.mean))]
