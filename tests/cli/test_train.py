import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from cli.ring import call, write
from typer.testing import CliRunner

from heterophily.cli import train as verb
from heterophily.cli.app import main
from heterophily.cli.train_options import SettingOptions
from heterophily.errors import HeterophilyError, InputError

COMMON = ["--repeats", "2", "--max-epochs", "5", "--workers", "1"]


@pytest.fixture
def run(data_folder):
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(verb.train)

    def call(*arguments):
        folder = ["--data-folder", str(data_folder)]
        result = CliRunner().invoke(app, [*arguments, *COMMON, *folder])
        if isinstance(result.exception, HeterophilyError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_json_has_the_numbers(run):
    data = json.loads(run("acm-gcn", "texas", "--preset", "paper", "--json"))
    assert (data["model"], data["graph"], data["split_rule"]) == (
        "acm-gcn", "texas", "paper-random",
    )  # fmt: skip
    assert len(data["test_accuracy"]["values"]) == 2
    assert data["published"]["mean"] == 0.9492


def test_text_shows_the_published_number_with_the_difference(run):
    text = run("acm-gcn", "texas", "--splits", "fixed", "--preset", "paper")
    assert "published accuracy     0.8784 ± 0.0440   difference" in text
    assert "2 fixed splits\n" in text


def test_options_are_typed_values(run):
    data = json.loads(
        run(
            "acm-gcn",
            "texas",
            "--lr",
            "0.1",
            "--dropout",
            "0.2",
            "--hidden",
            "8",
            "--layers",
            "3",
            "--option",
            "mix_scale=2",
            "--option",
            "normalization=symmetric",
            "--option",
            'channels=["low", "high"]',
            "--option",
            "use-layer-norm=true",
            "--json",
        )
    )
    chosen = data["hyperparameters"]
    assert (chosen["lr"], chosen["dropout"], chosen["hidden"], chosen["depth"]) == (0.1, 0.2, 8, 3)
    assert (chosen["mix_scale"], chosen["normalization"]) == (2, "symmetric")
    assert (chosen["channels"], chosen["use_layer_norm"]) == (["low", "high"], True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["acm-gnc", "texas"], "did you mean 'acm-gcn'"),
        (["acm-gcn", "texsa"], "did you mean 'texas'"),
        (["acm-gcn", "texas", "--splits", "public"], "texas has no public split"),
        (["acm-gcn", "texas", "--option", "mix_scale"], "write it as KEY=VALUE"),
        (["acm-gcn", "texas", "--option", "nothing=1"], "unknown option 'nothing'"),
        (["acm-gcn", "texas", "--lr", "-1"], "lr=-1.0"),
        (["acm-gcn"], "name one graph"),
        (["acm-gcn", "--edges", "e.csv", "--preset", "paper"], "is for catalog names"),
        (["acmii-gcnii", "texas"], "GCNII has no ACMII form"),
        (["acm-gcn", "karate", "--preset", "paper"], "no hyper-parameters for acm-gcn on karate"),
    ],
)
def test_bad_input_is_one_sentence(run, arguments, message):
    with pytest.raises(HeterophilyError, match=message.replace("?", r"\?")) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)


def test_interrupted_training_prints_what_is_finished_and_exits_130(monkeypatch, data_folder):
    from heterophily.training import replicas

    real = replicas.fit
    calls = []

    def fit(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(replicas, "fit", fit)
    app = typer.Typer()
    app.command()(verb.train)
    result = CliRunner().invoke(
        app,
        ["gcn", "texas", *COMMON, "--engine", "torch", "--json", "--data-folder", str(data_folder)],
    )
    assert result.exit_code == 130
    assert len(json.loads(result.stdout)["test_accuracy"]["values"]) == 1
    assert "1 of 2 splits are finished" in result.stderr


def test_your_own_tables_are_trained_on(run, tmp_path):
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("source,target\n" + "\n".join(f"{i},{(i + 1) % 40}" for i in range(40)))
    nodes.write_text("id,label,x\n" + "\n".join(f"{i},{'ab'[i % 2]},{i % 2}" for i in range(40)))
    data = json.loads(run("acm-gcn", "--edges", str(edges), "--nodes", str(nodes), "--json"))
    assert data["published"] is None
    assert len(data["test_accuracy"]["values"]) == 2


def test_malformed_option_is_an_input_error():
    with pytest.raises(InputError, match="--option 'x='"):
        SettingOptions(option=["x="]).options  # noqa: B018  # it is read here


def test_settings_of_tune_are_used_and_flags_win(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "best.toml"
    settings.write_text(
        'model = "gcn"\n[config]\nlr = 0.02\nmax_epochs = 3\n[options]\nhidden = 4\n'
    )
    command = ["train", "gcn", "karate", "--config", str(settings), "--repeats", "1", "--json"]
    assert main([*command, "--lr", "0.03"]) == 0
    used = json.loads(capsys.readouterr().out)["hyperparameters"]
    assert (used["lr"], used["max_epochs"], used["hidden"]) == (0.03, 3, 4)
    assert main(["train", "mlp-2", "karate", "--config", str(settings)]) == 2
    assert "for the model gcn" in capsys.readouterr().err


def test_scores_beside_accuracy_are_printed_and_in_the_data(run):
    text = run("gcn", "texas")
    for name in ("balanced accuracy", "macro F1", "ROC AUC", "calibration error"):
        assert name in text
    data = json.loads(run("gcn", "texas", "--json"))
    scores = data["scores"]
    assert scores["accuracy"]["values"] == pytest.approx(data["test_accuracy"]["values"])
    assert scores["balanced-accuracy"]["values"] != scores["accuracy"]["values"]
    assert data["temperature"] > 0


def test_trees_are_told_by_their_own_settings_and_not_compared_with_trees(run):
    text = run("trees", "texas", "--option", "depth=3")
    assert re.search(r"rounds +5.0 per split", text)
    assert "learning_rate=0.05" in text
    assert "lr=" not in text
    assert "gradient-boosted trees" not in text
    with pytest.raises(InputError, match="--lr is for models that learn by gradient steps"):
        run("trees", "texas", "--lr", "0.1")


def test_propagation_counts_no_epochs(run):
    text = run("label-propagation", "texas")
    assert "epoch" not in text
    assert re.search(r"hyper-parameters +hops=50  alpha=0.9\n", text)


def test_class_weights_reach_the_trainer(run):
    data = json.loads(run("gcn", "texas", "--class-weight", "balanced", "--json"))
    assert data["hyperparameters"]["class_weight"] == "balanced"


QUICK = ["--minutes", "0.001", "--max-epochs", "20", "--workers", "1"]
EVERY_SPLIT = ["--minutes", "0.03", "--max-epochs", "5", "--workers", "1"]


def test_auto_chooses_trains_tells_and_keeps(tmp_path):
    tables = write(tmp_path)
    text = call(
        "train", "auto", *tables, "--label", "team", "--inductive", *QUICK, "--out", tmp_path / "m"
    )
    for words in (
        "Diagnosis: ",
        "ranked by mean accuracy on validation nodes",
        "Chosen: ",
        "held-out test nodes",
        "95 % interval",
    ):
        assert words in text
    assert "New nodes: yes" in text
    assert f"Next: heterophily predict {tmp_path / 'm'} --edges" in text
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    assert card["trained_on"]["feature_names"] == ["a", "b"]
    assert card["read"]["label"] == "team"
    assert "40 nodes" in call("predict", tmp_path / "m", *tables)


def test_auto_keeps_the_direction_when_told_and_says_how_when_not(tmp_path, capsys):
    tables = write(tmp_path)  # a ring of one-way edges
    how = ["train", "auto", *tables, "--label", "team", "--inductive", *QUICK]
    assert main(how) == 0
    told = capsys.readouterr().err
    assert "40 edges have no reverse; their direction does not clearly go with the labels" in told
    assert main([*how, "--directed", "--out", str(tmp_path / "m")]) == 0
    assert "no reverse" not in capsys.readouterr().err
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    assert card["trained_on"]["is_directed"]
    assert "40 nodes" in call("predict", tmp_path / "m", *tables)


def test_auto_reads_a_direction_that_goes_with_the_labels_without_being_told(tmp_path):
    draws = random.Random(0)
    kinds = [draws.choice(("sender", "receiver", "hub")) for _ in range(240)]
    hubs = [k for k, kind in enumerate(kinds) if kind == "hub"]
    ends = [(k, draws.choice(hubs)) for k in range(240) if k not in hubs for _ in range(3)]
    rows = [f"{k},{hub}" if kinds[k] == "sender" else f"{hub},{k}" for k, hub in ends]
    (tmp_path / "e.csv").write_text("\n".join(["from,to", *rows]))
    (tmp_path / "n.csv").write_text(
        "\n".join(["id,role", *(f"{k},{kind}" for k, kind in enumerate(kinds))])
    )
    files = ["--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv"]
    how = ["--label", "role", "--minutes", "0.001", "--out"]
    text = call("train", "auto", *files, *how, tmp_path / "m")
    assert "The direction of edges goes with the labels" in text
    assert "direction dropped" not in text
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    assert card["read"]["direction"] == "keep"
    assert "240 nodes" in call("predict", tmp_path / "m", *files)
    text = call("train", "auto", *files, "--undirected", *how, tmp_path / "u")
    assert "direction of edges goes" not in text
    card = json.loads((tmp_path / "u" / "card.json").read_text())
    assert not card["trained_on"]["is_directed"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Trainings that tests share: what one has finished, the next does not repeat."""
    return ["--store", tmp_path_factory.mktemp("auto") / "runs.sqlite"]


def test_auto_with_fixed_splits_gives_data(data_folder, store):
    how = ["--splits", "fixed", *EVERY_SPLIT, "--json", "--data-folder", data_folder, *store]
    data = json.loads(call("train", "auto", "texas", *how))
    assert data["verdict"]["kind"] == "harmful"
    assert len(data["test"]["accuracy"]["values"]) == 10
    assert data["model_folder"] is None
    assert data["refit"] is False


def test_auto_trains_again_on_folds_when_told(data_folder, store):
    how = ["--splits", "fixed", "--refit", *EVERY_SPLIT, "--data-folder", data_folder, *store]
    text = call("train", "auto", "texas", *how)
    assert re.search(r"After refit \d+ trained models vote; test accuracy before 0\.\d", text)
    assert "trained again on folds of training and validation nodes together (refit)" in text
    data = json.loads(call("train", "auto", "texas", *how, "--json"))
    assert data["refit"] is True
    assert len(data["test_before_refit"]["accuracy"]["values"]) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["auto", "karate", "--lr", "0.1"], "auto chooses lr itself"),
        (["auto", "karate", "--repeats", "3"], "auto chooses repeats itself"),
        (["auto", "karate", "--splits", "fixed"], "karate has no fixed splits"),
        (["auto", "karate", "--refit"], "--refit goes with --splits fixed"),
        (["gcn", "karate", "--refit"], "--refit is for heterophily train auto"),
        (["auto", "karate", "--splits", "public"], "auto knows random"),
        (["auto", "karate", "--device", "cuda"], "auto runs on the CPU"),
        (["auto", "karate", "--score", "auc"], "unknown score 'auc'"),
        (["auto", "karate", "--label", "club"], "--label is for .graphml and .gexf files, tables"),
        (["gcn", "karate", "--weight", "w"], "--weight is for tables .--edges, --nodes., not for"),
        (["gcn", "karate", "--no-header"], "--no-header is for tables"),
        (["gcn", "texas", "--preset", "paper", "--directed"], "leave out --directed"),
        (["gcn", "karate", "--minutes", "3"], "--minutes is for heterophily train auto"),
        (["gcn", "karate", "--class-weight", "heavy"], "unknown class weight 'heavy'"),
        (["gcn", "karate", "--out", "no/such/model"], "there is no folder no/such"),
    ],
)
def test_what_auto_and_models_refuse_is_one_sentence(arguments, message):
    with pytest.raises(HeterophilyError, match=message) as caught:
        call("train", *arguments)
    assert "\n" not in str(caught.value)


def test_a_model_folder_is_refused_before_training(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError, match="m exists; pass --overwrite"):
        call("train", "gcn", "karate", "--out", tmp_path / "m")


def rare_tables(folder):
    """Write 105 rare of 1,973 nodes, with a column that tells a little."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], [1868, 105])
    values = rng.normal(size=kinds.size) + kinds
    names = np.array(["ok", "fraud"])[kinds]
    rows = [f"n{i},{names[i]},{values[i]:.3f}" for i in range(kinds.size)]
    (folder / "nodes.csv").write_text("id,kind,a\n" + "\n".join(rows) + "\n")
    ends = rng.integers(0, kinds.size, (3000, 2))
    edges = "\n".join(f"n{a},n{b}" for a, b in ends if a != b)
    (folder / "edges.csv").write_text("source,target\n" + edges + "\n")
    return ["--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--label", "kind"]


def test_a_rare_class_is_judged_by_its_rank_beside_baselines(tmp_path):
    tables = rare_tables(tmp_path)
    how = ["--repeats", "2", "--max-epochs", "5", "--workers", "1"]
    data = json.loads(call("train", "mlp-2", *tables, *how, "--json"))
    assert data["score"] == "roc-auc"
    assert data["scores"]["roc-auc"]["interval"]["low"] > 0
    assert [found["name"] for found in data["baselines"]] == ["largest-class", "trees"]
    assert data["baselines"][0]["test"]["mean"] == 0.5
    assert {row["class"]: row["nodes"] for row in data["per_class"]} == {"fraud": 42, "ok": 746}
    assert np.sum(data["confusion"]) == 788
    assert data["threshold"]["class"] == "fraud"
    text = call("train", "mlp-2", *tables, *how)
    shown, result = text.split("mlp-2 on edges, 2 random splits\n")
    assert "  a       number  1 feature\n" in shown  # before anything is trained
    assert result.startswith("  test ROC AUC  ")
    assert "than gradient-boosted trees on own features (ROC AUC 0." in text


def test_a_score_that_is_undefined_is_said_with_reason_and_remedy(tmp_path):
    tables = rare_tables(tmp_path)
    how = ["--repeats", "2", "--max-epochs", "2", "--workers", "1", "--splits", "paper-random"]
    text = call("train", "mlp-2", *tables, *how)
    assert "No test node is of class 'fraud': these scores say nothing about it." in text
    data = json.loads(call("train", "mlp-2", *tables, *how, "--json"))
    assert data["scores"]["roc-auc"]["mean"] is None
    assert any("ROC AUC and average precision cannot be computed" in r for r in data["remarks"])
    assert any("without test nodes" in remark for remark in data["remarks"])


def test_a_perfect_score_of_six_test_nodes_has_an_interval_and_no_zero_deviation():
    text = call("train", "auto", "karate", *QUICK)
    assert "6 held-out test nodes" in text
    assert "± 0.0000" not in text
    shown = [line for line in text.splitlines() if line.startswith("  test ")]
    assert len(shown) == 5
    assert all("95 % interval" in line for line in shown if "average precision" not in line)
    assert all("6 test nodes" in line for line in shown[:1])
