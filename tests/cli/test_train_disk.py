"""``train`` and ``predict`` on a graph on disk: the same road, store and model folder."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from heterophily.batches.fits import GraphSize, memory_of, models_that_fit, way_for
from heterophily.cli.app import main
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.write import write_disk_graph
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.prediction.auto_disk import auto_on_disk

N = 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = np.arange(N) % 2
    source, target = rng.integers(0, N, size=(2, 1500))
    kept = (labels[source] != labels[target]) | (rng.random(1500) < 0.2)  # heterophilic
    features = rng.normal(size=(N, 5)) + labels[:, None]
    graph = Graph.from_edges(
        source[kept], target[kept], features=features.astype(np.float32), labels=labels
    )
    place = tmp_path_factory.mktemp("disk") / "small.disk"
    write_disk_graph(graph, place, rows_per_part=100)
    return place


QUICK = ["--max-epochs", "4", "--batch-size", "32", "--json"]


@pytest.mark.parametrize(
    ("model", "batches"), [("acm-sign", "channels"), ("acm-gcn", "sampled"), ("mlp-2", "auto")]
)
def test_a_model_is_trained_kept_and_predicts_every_node(
    folder, tmp_path, capsys, monkeypatch, model, batches
):
    if batches == "auto":  # too large for full batches, so it is said
        monkeypatch.setattr("heterophily.batches.fits.memory_of", lambda way, *_: way == "full")
        monkeypatch.setattr("heterophily.data.memory.limit", lambda: 0)
    store = f"sqlite:///{tmp_path / 'runs.sqlite'}"
    words = ["train", model, str(folder), "--batches", batches, *QUICK, "--store", store]
    assert main([*words, "--out", str(tmp_path / "model")]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert 0.5 < found["test_accuracy"]["mean"] <= 1.0
    assert "mini-batches" in printed.err
    assert not list(tmp_path.rglob("*.checkpoint"))
    assert main(words) == 0  # from the store
    assert json.loads(capsys.readouterr().out)["test_accuracy"] == found["test_accuracy"]
    table = tmp_path / "predictions.csv"
    assert main(["predict", str(tmp_path / "model"), str(folder), "--out", str(table)]) == 0
    assert "240 nodes" in capsys.readouterr().out
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["node"] for row in rows] == [str(node) for node in range(N)]
    for row in rows:
        shares = [float(value) for key, value in row.items() if key.startswith("p(")]
        assert sum(shares) == pytest.approx(1.0, abs=1e-4)


def test_a_small_graph_on_disk_is_trained_in_memory(folder, capsys):
    assert main(["train", "sgc-1", str(folder), "--max-epochs", "3", "--repeats", "1"]) == 0
    printed = capsys.readouterr()
    assert "sgc-1 on small" in printed.out
    assert "mini-batches" not in printed.err


@pytest.mark.parametrize("model", ["gat", "label-propagation"])
def test_a_model_that_needs_the_whole_graph_predicts_and_explains_from_the_folder(
    folder, tmp_path, capsys, model
):
    kept, table = str(tmp_path / "model"), tmp_path / "predictions.csv"
    short = [] if model == "label-propagation" else ["--max-epochs", "3"]
    words = ["--repeats", "1", "--store", "memory:", "--out", kept]
    assert main(["train", model, str(folder), *short, *words]) == 0
    assert main(["predict", kept, str(folder), "--out", str(table)]) == 0
    assert len(table.read_text().splitlines()) == N + 1
    capsys.readouterr()
    assert main(["explain", kept, str(folder), "--node", "7"]) == 0
    assert "Neighbours" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "gat", "--batches", "sampled"], "cannot be sampled"),
        (["train", "acm-gcn", "--batches", "channels"], "--batches sampled"),
        (["train", "acm-gcn", "--batches", "some"], "choose auto"),
        (["train", "sgc-1", "--batches", "full", "--fanout", "3"], "leave out --fanout"),
        (["train", "sgc-1", "--memory", "100KB"], "raise --memory"),
        (["train", "sgc-1", "--memory", "100KB", "--batches", "full"], "--batches full needs"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder, capsys, words, sentence):
    assert main([*words, str(folder)]) == 2
    assert sentence in capsys.readouterr().err


def test_the_way_follows_from_size_and_memory():
    large = GraphSize(10**7, 2 * 10**8, 64, 5)
    spec = MODELS["acm-gcn"]
    assert way_for(spec, large, 1000 * 2**30) == "full"
    assert way_for(spec, large, 8 * 2**30) == "sampled"
    assert way_for(spec, large, 2**30) is None
    assert way_for(MODELS["acm-sign"], large, 8 * 2**30) == "channels"
    measured = memory_of("full", spec, GraphSize(10**6, 2 * 10**7, 32, 5))
    assert 3.5e9 < measured < 6.5e9  # 4.85 GB was measured
    fitting = models_that_fit(large, 8 * 2**30)
    assert fitting["acm-sgc-1"] == "channels"
    assert "gat" not in fitting


def test_auto_in_little_memory_chooses_among_models_of_mini_batches(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("heterophily.cli.train.too_large_for_auto", lambda source: True)
    monkeypatch.setattr("heterophily.prediction.auto_disk.memory_of", lambda *_: 0)
    monkeypatch.setattr("heterophily.prediction.auto_disk.FAMILIES", ("mlp-2", "acm-sgc-1"))
    model = tmp_path / "model"
    words = ["train", "auto", str(folder), *QUICK, "--store", "memory:", "--out", str(model)]
    assert main(words) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    tried = [trial["model"] for trial in found["trials"]]
    assert tried[:2] == ["mlp-2", "acm-sgc-1"]
    assert set(tried) == {"mlp-2", "acm-sgc-1"}
    best = max(found["trials"], key=lambda trial: trial["validation"])
    assert found["model"] == best["model"]
    assert "too large for full batches" in printed.err
    assert main(["explain", str(model), str(folder), "--node", "7"]) == 0
    assert "Node 7 is predicted as" in capsys.readouterr().out


def test_what_fits_no_memory_is_said_before_auto_trains(folder):
    with pytest.raises(InputError, match="raise --memory"):
        auto_on_disk(DiskGraph.open(folder), limit=0)
