import csv
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cli.ring import CLASSES, call, write

from heterophily.cli.predict import check_order, threshold_line
from heterophily.cli.trained import open_for
from heterophily.data.source import GraphSource
from heterophily.errors import HeterophilyError
from heterophily.prediction.folder import load_model


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with tables and two models trained on them."""
    folder = tmp_path_factory.mktemp("tables")
    tables = write(folder)
    common = ["--label", "team", "--repeats", "2", "--max-epochs", "30", "--workers", "1"]
    for name in ("acm-gcn", "acm-gcn+"):
        text = call("train", name, *tables, *common, "--out", folder / name)
        assert f"model folder {folder / name}" in " ".join(text.split())
        assert "balanced accuracy" in text
        assert "calibration error" in text
    return folder


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_predictions_are_written_for_every_node(place, tmp_path):
    tables = write(tmp_path)
    out = tmp_path / "p.csv"
    text = call("predict", place / "acm-gcn", *tables, "--out", out)
    assert "acm-gcn on edges: 40 nodes" in text
    rows = rows_of(out)
    assert [row["rank"] for row in rows] == [str(i + 1) for i in range(40)]
    found = [float(row["p(bees)"]) for row in rows]
    assert found == sorted(found, reverse=True)
    assert "ranked by the probability of bees, highest first" in text
    assert {"p(ants)", "p(bees)", "channel(low)", "channel(high)", "channel(identity)"} <= set(
        rows[0]
    )
    right = sum(row["label"] == CLASSES[int(row["node"][1:]) % 2] for row in rows)
    assert right > 30


def test_the_order_of_the_nodes_is_kept_on_request(place, tmp_path):
    tables, out = write(tmp_path), tmp_path / "p.csv"
    call("predict", place / "acm-gcn", *tables, "--out", out, "--order", "nodes")
    rows = rows_of(out)
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(40)]
    best = min(rows, key=lambda row: int(row["rank"]))
    assert best["p(bees)"] == max(row["p(bees)"] for row in rows)
    with pytest.raises(HeterophilyError, match="unknown order 'size'"):
        call("predict", place / "acm-gcn", *tables, "--order", "size")


def test_the_rarer_class_of_training_is_ranked(place):
    model = load_model(place / "acm-gcn")
    for sizes, wanted in (((9, 10), 0), ((10, 9), 1), ((10, 10), 1)):
        card = {**model.card, "class_sizes": dict(zip(CLASSES, sizes, strict=True))}
        assert check_order(None, replace(model, card=card)) == wanted
    three = replace(model, class_names=("a", "b", "c"))
    assert check_order("nodes", three) is None
    with pytest.raises(HeterophilyError, match="--order rank is for two classes"):
        check_order("rank", three)


def test_labels_are_not_needed_and_not_used(place, tmp_path):
    with_label, without = tmp_path / "a", tmp_path / "b"
    with_label.mkdir()
    without.mkdir()
    call("predict", place / "acm-gcn", *write(with_label), "--out", tmp_path / "a.csv")
    tables = write(without, with_label=False)
    call("predict", place / "acm-gcn", *tables, "--out", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_unseen_nodes_and_columns_in_another_order(place, tmp_path):
    tables = write(tmp_path, num_nodes=46, columns=("b", "a"), order=range(45, -1, -1))
    call("predict", place / "acm-gcn", *tables, "--out", tmp_path / "p.csv")
    rows = rows_of(tmp_path / "p.csv")
    assert len(rows) == 46
    right = sum(row["label"] == CLASSES[int(row["node"][1:]) % 2] for row in rows)
    assert right > 35


def test_json_has_the_rows(place, tmp_path):
    data = json.loads(call("predict", place / "acm-gcn", *write(tmp_path), "--json"))
    assert (data["model"], len(data["rows"])) == ("acm-gcn", 40)


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        ("acm-gcn", {"columns": ("c",)}, "none of the columns that the model was trained with"),
        ("acm-gcn+", {"num_nodes": 41}, "acm-gcn\\+ has a weight for every node"),
        ("nothing", {}, "no such model folder"),
    ],
)
def test_what_does_not_fit_is_one_sentence(place, tmp_path, model, changes, message):
    with pytest.raises(HeterophilyError, match=message) as caught:
        call("predict", place / model, *write(tmp_path, **changes))
    assert "\n" not in str(caught.value)


def test_extra_and_missing_columns_are_named(place, tmp_path):
    tables = write(tmp_path, columns=("a", "c"))
    data = json.loads(call("predict", place / "acm-gcn", *tables, "--json"))
    remarks = " ".join(data["remarks"])
    assert "ignored: 'team', 'c'" in remarks
    assert "column 'b' is not in the table: it counts as missing for every node" in remarks


def test_an_output_of_another_kind_is_refused(place, tmp_path):
    with pytest.raises(HeterophilyError, match=r"the file ends in \.csv"):
        call("predict", place / "acm-gcn", *write(tmp_path), "--out", tmp_path / "p.xlsx")


def test_tables_are_encoded_as_in_training(tmp_path):
    def tables(folder, shift):
        folder.mkdir()
        ring = "".join(f"n{k},n{(k + 1) % 40}\n" for k in range(40))
        (folder / "edges.csv").write_text("source,target\n" + ring)
        rows = [f"n{k},{'xy'[k % 2]},{k * 7 % 11 + shift},{['Rome', 'Oslo', 'Bern'][k % 3]},v1"
                for k in range(40)]  # fmt: skip
        (folder / "nodes.csv").write_text("\n".join(["id,team,age,city,version", *rows]) + "\n")
        return folder / "edges.csv", folder / "nodes.csv"

    edges, nodes = tables(tmp_path / "a", 0)
    training = ["--label", "team", "--repeats", "1", "--max-epochs", "3", "--workers", "1"]
    model = tmp_path / "model"
    call("train", "acm-gcn", "--edges", edges, "--nodes", nodes, *training, "--out", model)
    loaded = load_model(model)
    graphs = []
    for name, shift in (("b", 0), ("c", 1000)):
        edges, nodes = tables(tmp_path / name, shift)
        source = GraphSource(edges=str(edges), nodes=str(nodes))
        graphs.append(open_for(loaded, source, with_labels=False))
    same, shifted = graphs
    assert same.content_hash != shifted.content_hash
    assert same.feature_names == ("age", "city=Bern", "city=Oslo", "city=Rome")
    assert (shifted.features[:, 0] > 2.9).all()
    assert any("column 'age': the median is" in remark for remark in shifted.remarks)


def test_the_threshold_of_validation_is_told(place):
    model = load_model(place / "acm-gcn")
    found = SimpleNamespace(
        class_names=("a", "b"), probabilities=np.array([[0.7, 0.3], [0.9, 0.1], [0.4, 0.6]])
    )
    assert threshold_line(model, found) is None
    chosen = {"evaluation": {"threshold": {"class": "b", "value": 0.25}}}
    told = threshold_line(replace(model, card={"choice": chosen}), found)
    assert "2 nodes have p(b) of at least 0.25" in told


def test_a_list_of_labels_that_leaves_nodes_out(tmp_path):
    ring = "".join(f"{k} {(k + 1) % 40}\n" for k in range(1, 41))
    (tmp_path / "graph.txt").write_text(ring)
    (tmp_path / "labels.txt").write_text("".join(f"{k} {k % 2}\n" for k in range(30)))
    files = [tmp_path / "graph.txt", "--nodes", tmp_path / "labels.txt"]
    training = ["--repeats", "1", "--max-epochs", "2", "--workers", "1", "--out", tmp_path / "m"]
    call("train", "gcn", *files, *training)
    call("predict", tmp_path / "m", *files, "--out", tmp_path / "p.csv")
    assert len(rows_of(tmp_path / "p.csv")) == 41
