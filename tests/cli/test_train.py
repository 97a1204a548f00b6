import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli import train as verb
from heterophily.cli.app import main
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
    assert (data["model"], data["graph"], data["protocol"]) == ("acm-gcn", "texas", "random")
    assert len(data["test_accuracy"]["values"]) == 2
    assert data["published"]["mean"] == 0.9492


def test_text_shows_the_published_number_with_the_difference(run):
    text = run("acm-gcn", "texas", "--splits", "fixed", "--preset", "paper")
    assert "published            0.8784 ± 0.0440   difference" in text
    assert "2 fixed split(s)" in text


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
        app, ["gcn", "texas", *COMMON, "--json", "--data-folder", str(data_folder)]
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
        verb._parsed(["x="])


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
