"""A graph from its upload to the files of a comparison, asked over HTTP."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from web.conftest import Live

from heterophily.data.npz import write_npz
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.synthetic.features import gaussian_base
from heterophily.diagnosis.diagnose import diagnose
from heterophily.models.catalog import MODELS
from heterophily.web.comparable import COMPARABLE, DEFAULT
from heterophily.web.security import DOCUMENT_POLICY

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    features, labels = gaussian_base([20, 20], rng=rng, num_features=4)
    graph = edge_homophily_graph(
        homophily=0.2,
        edges=80,
        features=features,
        labels=labels,
        rng=rng,
        class_names=("calm", HOSTILE),
    )
    path = tmp_path_factory.mktemp("graph") / "small.npz"
    write_npz(graph, path)
    return path


@pytest.fixture(scope="module")
def uploaded(live: Live, graph_file: Path) -> dict[str, Any]:
    answer = live.post(
        "/api/graphs", files={"graph": ("../Small Graph.npz", graph_file.read_bytes())}
    )
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture(scope="module")
def comparison(live: Live, uploaded: dict[str, Any]) -> dict[str, Any]:
    asked = {"models": ["mlp-2", "acm-gcn"], "repeats": 2}
    answer = live.post(f"/api/graphs/{uploaded['graph']['id']}/comparisons", json=asked)
    assert answer.status_code == 202, answer.text
    return live.done(answer.json()["id"])


def test_every_model_that_the_page_offers_exists() -> None:
    assert set(DEFAULT) < set(COMPARABLE)
    for name in COMPARABLE:
        MODELS[name]


def test_a_graph_is_called_as_its_file_without_anything_harmful(uploaded: dict[str, Any]) -> None:
    assert uploaded["graph"]["name"] == "small-graph"
    assert uploaded["graph"]["report"]["nodes"] == 40


def test_the_diagnosis_is_that_of_the_package(
    live: Live, uploaded: dict[str, Any], graph_file: Path
) -> None:
    from heterophily.data.npz import read_npz

    live.done(uploaded["job"]["id"])
    told = live.get(f"/api/graphs/{uploaded['graph']['id']}/diagnosis").json()
    expected = diagnose(read_npz(graph_file)).to_dict()
    assert told["verdict"] == expected["verdict"]
    assert told["metrics"] == pytest.approx(expected["metrics"])
    isolated = uploaded["graph"]["report"]["isolated_nodes"]
    assert sum(told["plots"]["local_homophily"]) == 40 - isolated
    assert told["plots"]["compatibility"]["classes"] == ["calm", HOSTILE]


def test_the_report_is_a_document_of_its_own_without_the_rights_of_the_page(
    live: Live, uploaded: dict[str, Any]
) -> None:
    live.done(uploaded["job"]["id"])
    answer = live.get(f"/api/graphs/{uploaded['graph']['id']}/report.html")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == DOCUMENT_POLICY
    assert "allow-same-origin" not in DOCUMENT_POLICY
    assert HOSTILE not in answer.text


def test_a_comparison_tells_every_run_and_gives_its_files(
    live: Live, comparison: dict[str, Any]
) -> None:
    events = live.events(comparison["id"])
    runs = [(data["model"], data["split"]) for event, data in events if event == "run"]
    assert sorted(runs) == [("acm-gcn", 0), ("acm-gcn", 1), ("mlp-2", 0), ("mlp-2", 1)]
    result = next(data for event, data in events if event == "comparison")
    assert {cell["row"] for cell in result["models"]} == {"mlp-2", "acm-gcn"}
    assert [base["name"] for base in result["baselines"]] == ["largest-class", "trees"]
    assert len(result["sentences"]) == 2
    assert comparison["result"]["files"] == [
        *("comparison.json", "report.html", "model.zip", "predictions.csv")
    ]


def test_predictions_name_every_node_and_the_model_folder_predicts_the_same(
    live: Live, comparison: dict[str, Any], graph_file: Path, tmp_path: Path
) -> None:
    from heterophily.data.npz import read_npz
    from heterophily.prediction.folder import load_model
    from heterophily.prediction.predict import predict

    files = f"/api/jobs/{comparison['id']}/files"
    answer = live.get(f"{files}/predictions.csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert len(rows) == 1 + 40
    with zipfile.ZipFile(io.BytesIO(live.get(f"{files}/model.zip").content)) as archive:
        archive.extractall(tmp_path)
    found = predict(load_model(tmp_path / "model"), read_npz(graph_file))
    assert [list(row) for row in found.rows()] == rows[1:]


def test_only_listed_files_can_be_taken(live: Live, comparison: dict[str, Any]) -> None:
    for name in ("job.json", "events.jsonl", "..%2Fjob.json", "%2Fetc%2Fpasswd"):
        assert live.get(f"/api/jobs/{comparison['id']}/files/{name}").status_code == 404


def test_the_same_comparison_again_finds_all_runs_in_the_store(
    live: Live, uploaded: dict[str, Any], comparison: dict[str, Any]
) -> None:
    from heterophily.runs.stores.url import open_store

    with open_store(live.settings.store) as store:
        starts = len(store.starts())
    again = live.post(
        f"/api/graphs/{uploaded['graph']['id']}/comparisons", json=comparison["request"]
    )
    live.done(again.json()["id"])
    with open_store(live.settings.store) as store:
        assert len(store.starts()) == starts


@pytest.mark.parametrize(
    ("asked", "status", "sentence"),
    [
        ({"models": ["mlp-2", "acm-gnc"]}, 404, "did you mean 'acm-gcn'"),
        ({"models": ["mlp-2", "mlp-2"]}, 400, "at least two models"),
        ({"models": ["mlp-2"]}, 422, "models"),
        ({"models": ["mlp-2", "gcn"], "splits": "fixed"}, 400, "has no fixed splits"),
        ({"models": ["mlp-2", "gcn"], "repeats": 1}, 422, "repeats"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(
    asked: dict[str, Any], status: int, sentence: str, live: Live, uploaded: dict[str, Any]
) -> None:
    answer = live.post(f"/api/graphs/{uploaded['graph']['id']}/comparisons", json=asked)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_a_graph_without_labels_is_read_but_not_diagnosed_nor_compared(live: Live) -> None:
    files = {"edges": ("edges.csv", b"source,target\na,b\nb,c\nc,d\n")}
    found = live.post("/api/graphs", files=files).json()
    live.events(found["job"]["id"])
    sentence = "'edges' has no labelled node, so there is nothing to diagnose"
    assert sentence in live.get(f"/api/jobs/{found['job']['id']}").json()["error"]
    answer = live.get(f"/api/graphs/{found['graph']['id']}/diagnosis")
    assert answer.status_code == 409
    assert sentence in answer.json()["error"]
    job = live.post(
        f"/api/graphs/{found['graph']['id']}/comparisons", json={"models": ["mlp-2", "gcn"]}
    ).json()["id"]
    live.events(job)
    assert "training needs at least two" in live.get(f"/api/jobs/{job}").json()["error"]


def test_a_removed_graph_is_gone_with_its_jobs(live: Live) -> None:
    import requests

    found = live.post("/api/graphs/examples", json={"name": "davis"}).json()
    live.done(found["job"]["id"])
    place = f"/api/graphs/{found['graph']['id']}"
    assert requests.delete(live.url + place, timeout=30).status_code == 204
    for path in (place, f"{place}/report.html", f"/api/jobs/{found['job']['id']}"):
        assert live.get(path).status_code == 404
    assert found["graph"]["id"] not in live.app.state.server.folder.ids("graphs")


@pytest.mark.parametrize("name", ["../karate", "", "cora"])
def test_an_unknown_example_is_refused_with_those_that_exist(name: str, live: Live) -> None:
    answer = live.post("/api/graphs/examples", json={"name": name})
    assert answer.status_code == 400
    assert "davis, digits, karate" in answer.json()["error"]
