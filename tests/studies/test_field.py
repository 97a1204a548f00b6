"""The table of the field since 2022."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heterophily.errors import InputError, UnknownNameError
from heterophily.paper.field_settings import field_settings, field_splits
from heterophily.paper.published_tables import FROM_MEMORY, published_table
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.stores.memory import MemoryStore
from heterophily.search.space import check_settings, space_for
from heterophily.studies.runner import plan_study, run_study
from heterophily.studies.study import Row, Study, study

FIELD = study("field")


def test_there_are_at_least_24_models_on_13_graphs() -> None:
    assert len(FIELD.rows) >= 24
    assert len(FIELD.datasets) == 13
    assert (FIELD.protocol, FIELD.space) == ("validated", "field")


@pytest.mark.parametrize("model", [row.model for row in FIELD.rows])
def test_every_model_has_one_to_three_settings_that_it_accepts(model: str) -> None:
    settings = field_settings(model, "tolokers")
    assert 1 <= len(settings) <= 3
    for setting in settings:
        check_settings(model, setting, where="field")


def test_published_values_stand_beside_ours_and_say_when_they_are_not_checked() -> None:
    checked = FIELD.printed("res-gcn", "tolokers")
    assert checked is not None
    assert (checked.mean, checked.source) == (0.8364, "field")
    quoted = FIELD.printed("polynormer", "minesweeper")
    assert quoted is not None
    assert quoted.source.endswith(FROM_MEMORY)
    assert FIELD.printed("acm-gcn", "texas") == published_table("fixed-splits").cell(
        "acm-gcn", "texas"
    )


def test_the_chosen_setting_alone_gets_the_splits_beyond_those_compared(data_folder: Path) -> None:
    plan = plan_study(
        FIELD.part(models=["gcn"], datasets=["texas"]), protocol="validated", space="field"
    )
    cell = plan.cells[0]
    assert cell.compared == field_splits("texas") == 2
    assert len(cell.first) == 3 * 2
    assert len(cell.runs[0]) == 10


def test_a_study_chooses_by_the_score_that_it_declares(tmp_path: Path) -> None:
    space = tmp_path / "space.toml"
    space.write_text("lr = [0.0001, 0.05]\nmax_epochs = [8]\n")
    declared = Study(
        name="mine",
        title="mine",
        rows=(Row("gcn", "gcn"),),
        datasets=("karate",),
        splits="random",
        scores={"karate": "roc-auc"},
    )
    store = MemoryStore()
    result = run_study(
        declared, store, executor=InProcess(), protocol="validated", space=space, repeats=3
    )
    (cell,) = result.cells
    assert cell.score == "roc-auc"
    assert cell.test == cell.scores["roc-auc"]
    plan = plan_study(declared, protocol="validated", space=space, repeats=3)
    means = [
        np.mean(
            [r.outcome.value("validation", "roc-auc") for r in store.records([x.key for x in runs])]
        )
        for runs in plan.cells[0].runs
    ]
    assert cell.settings == plan.cells[0].settings[int(np.argmax(means))]
    assert any("roc-auc, not accuracy" in str(remark) for remark in result.remarks)


def test_an_unknown_score_or_protocol_is_refused() -> None:
    rows = (Row("gcn", "gcn"),)
    with pytest.raises(UnknownNameError, match="score of karate in study x"):
        Study(name="x", title="x", rows=rows, datasets=("karate",), scores={"karate": "luck"})
    with pytest.raises(UnknownNameError, match="protocol of study x"):
        Study(name="x", title="x", rows=rows, datasets=("karate",), protocol="guessed")


def test_the_space_of_whole_settings_says_which_table_it_is_for() -> None:
    with pytest.raises(InputError, match="heterophily paper table field"):
        space_for("field", "gcn", "texas")
