"""The space ``programs``: whole settings for each cell, compared on the first splits only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_study import small_graph

from heterophily.data.npz import write_npz
from heterophily.errors import InputError, UnknownNameError
from heterophily.paper.programs import SourcedSetting, candidates, compared_splits
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.stores.url import open_store
from heterophily.search.space import recipe_of, space_for
from heterophily.studies import runner
from heterophily.studies.runner import plan_study, run_study
from heterophily.studies.study import Study, study

HOW = {"protocol": "validated", "space": "programs", "repeats": 4, "engine": "torch"}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of one model with two settings, one of them hopeless, compared on two splits."""
    found = [
        SourcedSetting(name, {"lr": lr, "max_epochs": 20, "hidden": 8, "direction": "drop"})
        for name, lr in (("hopeless", 1e-9), ("good", 0.05))
    ]
    monkeypatch.setattr(runner, "candidates", lambda model, _: found if model == "gcn" else [])
    monkeypatch.setattr(runner, "compared_splits", lambda _: 2)
    write_npz(small_graph(), tmp_path / "small.npz")
    (tmp_path / "mine.toml").write_text(
        f'title = "Mine"\nrows = ["gcn", "mlp-1"]\ndatasets = ["{tmp_path}/small.npz"]\n'
    )
    return study(tmp_path / "mine.toml")


def test_only_the_chosen_setting_gets_the_other_splits(mine: Study, tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        table = run_study(mine, store, executor=InProcess(), **HOW)
        assert len(store) == 2 * 2 + 2
        cell = table.cell("gcn", mine.datasets[0])
        assert cell is not None
        assert cell.settings["lr"] == 0.05
        assert cell.is_complete
        assert len(cell.test) == 4
        again = run_study(mine, store, executor=InProcess(), **HOW)
        assert (len(store), again) == (6, table)


def test_nothing_is_chosen_while_runs_that_decide_lack(mine: Study, tmp_path: Path) -> None:
    plan = plan_study(mine, **HOW)
    assert len(plan.runs) == 4
    with open_store(tmp_path / "runs.sqlite") as store:
        cell = plan.cells[0]
        assert cell.rest(store) == ()
        assert cell.result(mine, store).remark == "0 of 4 runs of the search are finished"
        complete(plan.runs, store=store, executor=InProcess())
        assert [run.split.index for run in cell.rest(store)] == [2, 3]
        assert len(cell.result(mine, store).test) == 2


def test_a_model_without_settings_says_so(mine: Study) -> None:
    remark = str(plan_study(mine, **HOW).cells[1].remark)
    assert "no settings of a program are known for mlp-1" in remark
    with pytest.raises(InputError, match="no settings of a program are known"):
        plan_study(replace(mine, rows=mine.rows[1:]), **HOW)


def test_a_misspelt_space_is_named_with_the_nearest(mine: Study) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown space .* did you mean 'programs'\?"):
        plan_study(mine, **{**HOW, "space": "progams"})


def test_settings_of_the_graph_reach_the_graph() -> None:
    directed = [c for c in candidates("ggcn", "squirrel") if "direction" in c.settings]
    recipe = recipe_of(directed[0].settings, "ggcn", "squirrel")
    assert recipe.graph == {"direction": "keep", "self_loops": "keep"}
    assert "direction" not in recipe.options


def test_the_list_is_no_space_for_a_search() -> None:
    assert compared_splits("cornell") == 5
    with pytest.raises(InputError, match="the space programs is made for one table"):
        space_for("programs", "gcn", "texas")
