"""Tuning: on validation data alone, complete, resumable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_study import QUICK, small_graph

from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError, UnknownNameError
from heterophily.runs.executors.base import Execution, Tick
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import LocalProcesses
from heterophily.runs.job import Job
from heterophily.runs.run import Run
from heterophily.runs.stores.url import open_store
from heterophily.search import tune as module
from heterophily.search.settings import read_settings, write_settings
from heterophily.search.space import Space
from heterophily.search.tune import SettingTrial, TuneResult, is_hopeless, tune

WIDE = Space(
    "wide",
    {
        "lr": (0.0001, 0.001, 0.01, 0.05, 0.2),
        "dropout": (0.0, 0.5, 0.9),
        "max_epochs": (10,),
        "hidden": (4,),
    },
)


def quick(path: Path, **changes: object) -> TuneResult:
    arguments: dict[str, object] = {
        "space": QUICK,
        "splits": "fixed",
        "executor": InProcess(),
        "engine": "torch",
        **changes,
    }
    graph = arguments.pop("graph", None) or small_graph()
    with open_store(path) as store:
        return tune("mlp-1", graph, store=store, **arguments)  # type: ignore[arg-type]


def test_a_grid_tries_every_setting_on_every_split_and_takes_the_best(tmp_path: Path) -> None:
    result = quick(tmp_path / "runs.sqlite")
    assert [trial.settings["lr"] for trial in result.trials] == [0.001, 0.05, 0.2]
    assert all(len(trial.validation) == 4 for trial in result.trials)
    means = [trial.mean or 0.0 for trial in result.trials]
    assert result.best is result.trials[int(np.argmax(means))]
    assert len(set(means)) > 1
    with open_store(tmp_path / "runs.sqlite") as store:
        assert len(store) == 12


def test_a_second_search_trains_nothing(tmp_path: Path) -> None:
    first = quick(tmp_path / "runs.sqlite")
    with open_store(tmp_path / "runs.sqlite") as store:
        before = len(store.starts())
    again = quick(tmp_path / "runs.sqlite")
    with open_store(tmp_path / "runs.sqlite") as store:
        assert len(store.starts()) == before
    assert again.to_dict() == first.to_dict()


@pytest.mark.parametrize("search", ["grid", "adaptive"])
def test_shuffled_test_labels_change_nothing_in_the_choice(tmp_path: Path, search: str) -> None:
    graph = small_graph()
    assert graph.splits is not None
    one = SplitBatch.stack([graph.splits[0]])  # one split: its test nodes are nobody's training
    graph = graph.replace(splits=one)
    shuffled = np.array(graph.labels)
    nodes = np.flatnonzero(one.test[0])
    shuffled[nodes] = np.random.default_rng(5).permutation(shuffled[nodes])
    assert (shuffled != graph.labels).any()
    honest = quick(tmp_path / "a.sqlite", graph=graph, space=WIDE, search=search, trials=8)
    blind = quick(
        tmp_path / "b.sqlite",
        graph=graph.replace(labels=shuffled),
        space=WIDE,
        search=search,
        trials=8,
    )
    assert blind.best.settings == honest.best.settings
    assert [t.validation for t in blind.trials] == [t.validation for t in honest.trials]
    assert blind.test != honest.test  # the labels did matter, to the report alone


def test_a_trial_does_not_know_a_test_accuracy() -> None:
    assert not any("test" in name for name in SettingTrial.__dataclass_fields__)


def test_an_adaptive_search_proposes_the_same_again_and_resumes_from_the_store(
    tmp_path: Path,
) -> None:
    how = {"space": WIDE, "search": "adaptive"}
    short = quick(tmp_path / "runs.sqlite", **how, trials=10)
    with open_store(tmp_path / "runs.sqlite") as store:
        before = len(store.starts())
    long = quick(tmp_path / "runs.sqlite", **how, trials=14)
    assert [t.settings for t in long.trials[:10]] == [t.settings for t in short.trials]
    with open_store(tmp_path / "runs.sqlite") as store:
        fresh = {key for key, *_ in store.starts()[before:]}
        old = {key for key, *_ in store.starts()[:before]}
    assert fresh
    assert not fresh & old


class Inside(LocalProcesses):
    """Trains in this process and notes whether it was told to keep its processes."""

    def __init__(self) -> None:
        super().__init__(1)
        self.calls: list[bool] = []

    def execute(self, job: Job, runs: Sequence[Run], tick: Tick) -> Execution:
        self.calls.append(self._open is not None)
        return InProcess().execute(job, runs, tick)


def test_a_search_keeps_its_processes_from_round_to_round(tmp_path: Path) -> None:
    executor = Inside()
    how = {"space": WIDE, "search": "adaptive", "trials": 12, "executor": executor}
    quick(tmp_path / "runs.sqlite", **how)
    assert len(executor.calls) > 2
    assert all(executor.calls)
    assert executor._open is None


def test_hopeless_settings_are_not_trained_on_every_split(tmp_path: Path) -> None:
    result = quick(tmp_path / "runs.sqlite", space=WIDE, search="adaptive", trials=15)
    lengths = {trial.is_hopeless: {len(trial.validation)} for trial in result.trials}
    assert lengths == {False: {4}, True: {module.FIRST_SPLITS}}
    assert not result.best.is_hopeless


def test_the_whole_of_a_small_space_is_proposed_once(tmp_path: Path) -> None:
    result = quick(tmp_path / "runs.sqlite", search="adaptive")
    assert sorted(trial.settings["lr"] for trial in result.trials) == [0.001, 0.05, 0.2]


def test_hopeless_is_a_clear_gap_on_the_same_splits() -> None:
    assert is_hopeless([0.5, 0.5, 0.5], [0.9, 0.88, 0.91])
    assert not is_hopeless([0.89, 0.88, 0.9], [0.9, 0.88, 0.91])  # within the margin
    assert not is_hopeless([0.2, 0.9, 0.9], [0.9, 0.88, 0.91])  # one bad split proves nothing
    assert is_hopeless([None, 0.9], [0.5, 0.5])


def test_a_limited_grid_says_so(tmp_path: Path) -> None:
    result = quick(tmp_path / "runs.sqlite", trials=2)
    assert len(result.trials) == 2
    assert result.remarks == ("2 of 3 settings were tried",)


def test_no_time_at_all_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no setting was finished in 1e-09 minutes"):
        quick(tmp_path / "runs.sqlite", minutes=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search": "grdi"}, "did you mean 'grid'"),
        ({"preset": "papr"}, "unknown preset"),
        ({"trials": 0}, "trials=0; it must be above 0"),
        ({"minutes": -1.0}, "minutes=-1.0; it must be above 0"),
    ],
)
def test_bad_arguments_are_one_sentence(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        quick(tmp_path / "runs.sqlite", **changes)


def test_settings_survive_the_file(tmp_path: Path) -> None:
    settings = {"lr": 0.05, "dropout": 0.5, "with_structure": True, "channels": ("low", "high")}
    path = tmp_path / "best.toml"
    write_settings(path, settings, model="acm-gcn+", graph='odd "name"', why="best of 3")
    found = read_settings(path)
    assert found["config"] == {"lr": 0.05}
    assert found["options"] == {"dropout": 0.5, "with_structure": True, "channels": ["low", "high"]}
    assert (found["model"], found["graph"]) == ("acm-gcn+", 'odd "name"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lr = 0.1", "unknown key of best.toml 'lr'"),
        ("[config]\nlrr = 0.1", "did you mean 'lr'"),
        ("config = 3", "config must be a table"),
        ("[config", "is not TOML"),
    ],
)
def test_a_bad_settings_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "best.toml"
    path.write_text(text)
    with pytest.raises((InputError, UnknownNameError), match=message):
        read_settings(path)


def test_the_score_that_is_asked_for_chooses_and_test_scores_come_with_baselines(
    tmp_path: Path,
) -> None:
    result = quick(tmp_path / "runs.sqlite", score="roc-auc")
    assert result.score == "roc-auc"
    with open_store(tmp_path / "runs.sqlite") as store:
        outcomes = [store.get(key).outcome for key in result.keys]  # type: ignore[union-attr]
    assert result.best.validation == tuple(o.scores["validation"]["roc-auc"] for o in outcomes)  # type: ignore[index]
    assert result.test.values == tuple(o.scores["test"]["roc-auc"] for o in outcomes)  # type: ignore[index]
    assert [found.name for found in result.baselines] == ["largest-class", "trees"]
    assert result.to_dict()["test"]["interval"] is not None


def test_runs_without_the_score_let_accuracy_choose(tmp_path: Path) -> None:
    result = quick(tmp_path / "runs.sqlite", score="roc-auc", splits="paper-random", repeats=2)
    assert result.score == "accuracy"
    assert any("chosen by accuracy" in remark for remark in result.remarks)
    plain = quick(tmp_path / "runs.sqlite", score="accuracy", splits="paper-random", repeats=2)
    assert plain.best.settings == result.best.settings
