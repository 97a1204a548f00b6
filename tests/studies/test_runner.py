"""From studies to tables: protocols apart, runs shared, answers independent of the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_study import small_graph

from heterophily.comparison.train import train
from heterophily.data.npz import write_npz
from heterophily.errors import InputError, UnknownNameError
from heterophily.paper.presets import Recipe
from heterophily.report.tables import EARLIER, cell_text, numerics_lines, summary_lines
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.executors.local import LocalProcesses
from heterophily.runs.plan import Planner
from heterophily.runs.run import NUMERICS
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store
from heterophily.studies.runner import StudyPlan, plan_study, run_study
from heterophily.studies.study import Study, study
from heterophily.studies.table import TableResult
from heterophily.training.config import TrainConfig

SPACE = "lr = [0.001, 0.05]\nmax_epochs = [10]\nhidden = [8]\n"


@pytest.fixture
def mine(tmp_path: Path) -> Study:
    """A study of two models on a graph file, to be searched over two settings."""
    write_npz(small_graph(), tmp_path / "small.npz")
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "mine.toml").write_text(
        f'title = "Mine"\nrows = ["mlp-1", "sgc-1"]\ndatasets = ["{tmp_path}/small.npz"]\n'
    )
    return study(tmp_path / "mine.toml")


def plan(mine: Study, tmp_path: Path, **how: object) -> StudyPlan:
    arguments: dict[str, object] = {"repeats": 3, "engine": "torch", **how}
    return plan_study(mine, protocol="validated", space=tmp_path / "space.toml", **arguments)


def test_a_run_of_a_study_gives_what_the_train_command_gives(tmp_path: Path) -> None:
    graph, config = small_graph(), TrainConfig(lr=0.05, max_epochs=15)
    planner = Planner(repeats=3, engine="torch")
    runs = planner.runs("acm-gcn", graph, Recipe({}, {"hidden": 8}, config), "random")
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(runs, store=store, executor=InProcess())
        found = {record.key: record.outcome for record in store.records()}
    report = train(
        "acm-gcn", graph, repeats=3, options={"hidden": 8}, config=config, workers=1, engine="torch"
    )
    ours = [found[run.key].test_accuracy for run in runs]
    assert ours == report.test_accuracy["values"]
    assert [found[run.key].validation_accuracy for run in runs] == (
        report.validation_accuracy["values"]
    )


def test_the_validated_protocol_reports_the_setting_that_is_best_on_validation(
    mine: Study, tmp_path: Path
) -> None:
    planned = plan(mine, tmp_path)
    assert len(planned.runs) == 2 * 2 * 3
    with open_store(tmp_path / "runs.sqlite") as store:
        result = run_study(
            mine,
            store,
            protocol="validated",
            space=tmp_path / "space.toml",
            executor=InProcess(),
            repeats=3,
            engine="torch",
        )
        for cell, chosen in zip(planned.cells, result.cells, strict=True):
            means, tests = [], []
            for runs in cell.runs:
                scores = [store.get(run.key) for run in runs]
                means.append(np.mean([r.outcome.validation_accuracy for r in scores if r]))
                tests.append(np.mean([r.outcome.test_accuracy for r in scores if r]))
            best = int(np.argmax(means))
            assert chosen.by_test is not None
            assert chosen.by_test.mean == max(tests) >= chosen.mean
            assert chosen.by_test.settings == cell.settings[int(np.argmax(tests))]
            assert chosen.settings == cell.settings[best]
            assert chosen.keys == tuple(run.key for run in cell.runs[best])
    assert result.protocol == "validated"
    assert all(cell.is_complete for cell in result.cells)


def test_a_worker_process_fills_the_store_with_the_same_bits(mine: Study, tmp_path: Path) -> None:
    answers = []
    for name, executor in (("here", InProcess()), ("worker", LocalProcesses(1))):
        with open_store(tmp_path / f"{name}.sqlite") as store:
            run_study(
                mine,
                store,
                protocol="validated",
                space=tmp_path / "space.toml",
                executor=executor,
                repeats=2,
                engine="torch",
            )
            answers.append(store.answers())
    assert answers[0] == answers[1]


def test_a_plan_has_the_same_keys_again_and_other_keys_for_another_seed(
    mine: Study, tmp_path: Path
) -> None:
    keys = {run.key for run in plan(mine, tmp_path).runs}
    assert {run.key for run in plan(mine, tmp_path).runs} == keys
    assert not {run.key for run in plan(mine, tmp_path, seed=1).runs} & keys
    fewer = {run.key for run in plan(mine, tmp_path, repeats=2).runs}
    assert fewer < keys  # split i does not depend on how many there are


def test_two_names_of_one_model_share_their_runs() -> None:
    planner, graph = Planner(repeats=2, engine="torch"), small_graph()
    keys = [
        [run.key for run in planner.runs(name, graph, Recipe(), "random")]
        for name in ("gcn", "acm-gcn[low]", "sgc-1")
    ]
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])


def test_fixed_splits_are_those_of_the_graph_and_are_not_multiplied() -> None:
    graph = small_graph()
    planner = Planner(repeats=10, engine="torch")
    runs = planner.runs("gcn", graph, Recipe(), "fixed")
    assert len(runs) == 4
    assert graph.splits is not None
    for number, run in enumerate(runs):
        assert np.array_equal(planner.sources.split(run).test, graph.splits[number].test)
        assert run.split.seed is None


def test_an_unfinished_search_has_no_value_yet(mine: Study, tmp_path: Path) -> None:
    planned = plan(mine, tmp_path)
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(planned.runs[:4], store=store, executor=InProcess())
        result = planned.result(store)
    assert [cell.mean for cell in result.cells] == [None, None]
    assert result.cells[0].remark == "4 of 6 runs of the search are finished"


def test_runs_of_earlier_numerics_are_shown_and_marked_until_they_are_trained_again(
    mine: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(store: Store) -> TableResult:
        space = tmp_path / "space.toml"
        how = {"space": space, "executor": InProcess(), "repeats": 3, "engine": "torch"}
        return run_study(mine, store, protocol="validated", **how)

    with open_store(tmp_path / "runs.sqlite") as store:
        before = trained(store)
        monkeypatch.setitem(NUMERICS, "torch", 2)
        shown = plan(mine, tmp_path).result(store)
        assert [cell.test for cell in shown.cells] == [cell.test for cell in before.cells]
        assert {cell.earlier_numerics for cell in shown.cells} == {("torch 1",)}
        assert cell_text(shown.cells[0]).endswith(EARLIER)
        assert "torch 1 in 2" in " ".join(summary_lines(shown))
        again = trained(store)
        assert {cell.numerics for cell in again.cells} == {("torch 2",)}
        assert not numerics_lines(again)


def test_runs_of_torch_are_shown_until_the_engine_that_has_learnt_the_model_has_as_many(
    mine: Study, tmp_path: Path
) -> None:
    torch, native = plan(mine, tmp_path), plan(mine, tmp_path, engine="native")
    with open_store(tmp_path / "runs.sqlite") as store:
        complete(torch.runs, store=store, executor=InProcess())
        complete(native.runs[:3], store=store, executor=InProcess())
        shown = native.result(store)
        assert [cell.test for cell in shown.cells] == [
            cell.test for cell in torch.result(store).cells
        ]
        assert {cell.numerics for cell in shown.cells} == {("torch 1",)}
        complete(native.runs, store=store, executor=InProcess())
        assert {cell.numerics for cell in native.result(store).cells} == {("native 4",)}


def test_the_published_protocol_uses_the_printed_optimum(data_folder: Path) -> None:
    part = study("ablation").part(models=["acm-gcn", "acm-gcn[sum]"], datasets=["texas"])
    planned = plan_study(part, data_folder=data_folder, engine="torch")
    plain, summed = planned.cells[0].runs[0], planned.cells[1].runs[0]
    assert len(plain) == len(summed) == 10
    by_name = {cell.cell.row.name: cell for cell in planned.cells}
    run = by_name["acm-gcn"].runs[0][0]
    assert (run.config["lr"], run.options["dropout"], run.options["mix_scale"]) == (0.05, 0.6, 3.0)
    assert by_name["acm-gcn"].remark is None
    assert str(by_name["acm-gcn[sum]"].remark) == (
        "the paper prints no optimum for acm-gcn[sum]: that of acm-gcn is used"
    )


def test_variants_differ_from_the_plain_model_in_their_option_alone(data_folder: Path) -> None:
    part = study("w-mix").part(datasets=["texas"])
    planned = plan_study(part, data_folder=data_folder, repeats=1, engine="torch")
    with_weight, without = (
        next(cell.runs[0][0] for cell in planned.cells if cell.cell.row.name == name)
        for name in ("acm-gcn", "acm-gcn[without-w-mix]")
    )
    differing = {k for k, v in with_weight.resolved.items() if without.resolved[k] != v}
    assert differing == {"use_mix_weight"}
    assert (with_weight.config, with_weight.seed) == (without.config, without.seed)


def test_a_study_without_a_runnable_cell_is_one_sentence(tmp_path: Path) -> None:
    part = study("fixed-splits").part(models=["fagcn"], datasets=["squirrel"])
    with pytest.raises(InputError, match="no optimum for fagcn on squirrel with fixed splits"):
        plan_study(part)
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\nrows = ["my-gnn", "acmii-gcnii"]\ndatasets = ["texas"]\n')
    with pytest.raises(InputError, match="my-gnn is not a model of this package"):
        plan_study(study(path))
    with pytest.raises(InputError, match="GCNII has no ACMII form"):
        plan_study(study(path).part(models=["acmii-gcnii"]))


def test_protocols_are_two() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'published'"):
        plan_study(study("ablation"), protocol="publishd")
    with pytest.raises(InputError, match="is made by another command: heterophily paper metrics"):
        plan_study(study("metrics"))
