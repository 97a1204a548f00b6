from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from web.conftest import Live, free_port, running

from heterophily.runs.record import Outcome, Record
from heterophily.runs.stores.url import open_store
from heterophily.studies.runner import plan_study
from heterophily.studies.study import study
from heterophily.web.settings import WebSettings

ACCURACIES = [0.5, 0.75]


@pytest.fixture(scope="module")
def with_runs(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Iterator[Live]:
    """A server whose store holds two made-up runs of one cell, and whose data is texas alone."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "data").mkdir()
    (folder / "data" / "texas.npz").symlink_to(data_folder / "texas.npz")
    part = study("ablation").part(models=["acm-gcn"], datasets=["texas"])
    plan = plan_study(part, data_folder=folder / "data", offline=True)
    with open_store(folder / "runs.sqlite") as store:
        for run, accuracy in zip(plan.runs, ACCURACIES, strict=False):
            outcome = Outcome(
                status="stopped",
                epochs=10,
                best_epoch=5,
                train_loss=0.1,
                validation_loss=0.2,
                validation_accuracy=accuracy,
                test_accuracy=accuracy,
                seconds=1.0,
                peak_memory_mb=1.0,
            )
            store.add(Record.of(run, outcome, command="made up"))
    settings = WebSettings(
        folder / "work", folder / "runs.sqlite", port=free_port(), data_folder=folder / "data"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HETEROPHILY_DATA", str(folder / "data"))
        with running(settings) as server:
            yield server


def test_the_tables_of_the_paper_are_listed_in_its_order(live: Live) -> None:
    names = [found["name"] for found in live.get("/api/studies").json()]
    assert names[0] == "ablation"
    assert "metrics" not in names  # it is not trained


def test_a_cell_holds_ours_and_the_papers_and_leads_to_its_runs(with_runs: Live) -> None:
    table = with_runs.get("/api/studies/ablation").json()
    cells = {(cell["row"], cell["dataset"]): cell for cell in table["cells"]}
    cell = cells["acm-gcn", "texas"]
    assert (cell["mean"], cell["finished"], cell["wanted"]) == (0.625, 2, 10)
    assert cell["published"] == pytest.approx(0.9508)
    assert cells["acm-gcn", "cora"]["mean"] is None  # not on this machine
    assert cells["acm-gcn", "cora"]["published"] == pytest.approx(0.8895)
    assert any(line.startswith("Not on this machine: ") for line in table["lines"])
    runs = with_runs.get("/api/runs", params={"key": cell["keys"]}).json()
    assert [run["test_accuracy"] for run in runs] == ACCURACIES
    assert {run["command"] for run in runs} == {"made up"}


def test_a_new_run_appears_in_the_table(with_runs: Live) -> None:
    before = with_runs.get("/api/studies/ablation").json()
    with open_store(with_runs.settings.store) as store:
        known = next(iter(store.records()))
        plan = plan_study(
            study("ablation").part(models=["acm-gcn"], datasets=["texas"]),
            data_folder=with_runs.settings.data_folder,
            offline=True,
        )
        store.add(Record.of(plan.runs[5], known.outcome, command="made up"))
    after = with_runs.get("/api/studies/ablation").json()
    counts = [sum(cell["finished"] for cell in table["cells"]) for table in (before, after)]
    assert counts[1] == counts[0] + 1


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/api/studies/abblation", 404, "did you mean 'ablation'"),
        ("/api/studies/metrics", 400, "run: heterophily paper metrics"),
        ("/api/studies/ablation?protocol=mine", 422, "protocol"),
        ("/api/runs", 422, "key"),
        ("/api/runs?key=..", 422, "key"),
    ],
)
def test_questions_that_have_no_answer_get_a_sentence(
    path: str, status: int, sentence: str, live: Live
) -> None:
    answer = live.get(path)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_without_a_store_there_are_no_runs(live: Live, tmp_path: Path) -> None:
    assert live.get("/api/runs", params={"key": "0" * 64}).json() == []


def test_a_file_that_is_no_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_bytes(b"not a database at all" * 100)
    settings = WebSettings(tmp_path / "work", tmp_path / "runs.sqlite", port=free_port())
    with running(settings) as server:
        answer = server.get("/api/runs", params={"key": "0" * 64})
    assert answer.status_code == 503
    assert "is damaged" in answer.json()["error"]
