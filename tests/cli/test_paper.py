"""``heterophily paper metrics``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heterophily.cli.paper import app

runner = CliRunner()


def test_plain_output_shows_ours_theirs_and_the_marks(data_folder: Path) -> None:
    result = runner.invoke(
        app, ["metrics", "--datasets", "texas, film", "--data-folder", str(data_folder)]
    )
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == [
        *("metric", "dataset", "paper", "ours", "difference", "as", "written")
    ]
    assert any(line.split()[:4] == ["H_edge", "texas", "0.4106", "0.4106"] for line in lines)
    assert "H_edge, H_node, H_class: 6 of 6 agree to 4 decimals (marked =)." in lines
    assert (
        "H_agg, S_agg(S(A,X)), S_agg(S(I,X)), DD: 8 of 8 agree to 4 decimals (marked =)." in lines
    )
    assert any(line.startswith("[1] film: 26 nodes tie exactly") for line in lines)
    assert "\x1b" not in result.output


def test_json_is_data(data_folder: Path) -> None:
    result = runner.invoke(
        app,
        [
            "metrics",
            *("--datasets", "wisconsin", "--data-folder", str(data_folder)),
            *("--estimates", "--json"),
        ],
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["agree"], data["of"]) == (8, 8)
    assert {value["metric"] for value in data["values"]} >= {"edge_homophily", "feature_similarity"}
    assert len(data["estimates"]) == 4
    assert all(cell["is_within_spread"] for cell in data["estimates"])


def test_estimates_are_printed_with_the_share_within_the_spread(data_folder: Path) -> None:
    arguments = ["metrics", "--datasets", "texas", "--data-folder", str(data_folder)]
    result = runner.invoke(app, [*arguments, "--estimates"])
    assert "4 of 4 estimates lie within the paper's spread (one" in result.output


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_unknown_dataset_is_one_sentence(name: str) -> None:
    result = runner.invoke(app, ["metrics", "--datasets", name])
    assert result.exception is not None
    assert "is not in the paper's tables; choose from cornell" in str(result.exception)


def on_texas(tmp_path: Path, data_folder: Path, *extra: str) -> list[str]:
    return [
        *("table", "ablation", "--datasets", "texas", "--models", "acm-sgc-1,acm-sgc-1[low,high]"),
        *("--repeats", "2", "--workers", "1", "--store", str(tmp_path / "runs.sqlite")),
        *("--data-folder", str(data_folder), "--space", str(tmp_path / "space.toml")),
        *("--protocol", "validated", *extra),
    ]


@pytest.fixture
def short_space(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text("lr = [0.05]\nmax_epochs = [5]\n")


@pytest.mark.usefixtures("short_space")
def test_a_table_is_computed_once_and_shown_beside_the_papers(
    tmp_path: Path, data_folder: Path
) -> None:
    page = tmp_path / "ablation.md"
    result = runner.invoke(app, on_texas(tmp_path, data_folder, "--out", str(page)))
    assert result.exit_code == 0, result.output
    assert "Protocol validated: hyper-parameters searched here" in result.stdout
    assert "90.98 ± 2.46" in result.stdout  # Table 1, ACM-SGC with LP and HP on texas
    assert "protocol **validated**" in page.read_text()
    command = "heterophily paper table ablation --protocol validated --engine auto --datasets texas"
    assert f"- Command: `{command} --models " in page.read_text()
    assert "--store" not in page.read_text()
    again = runner.invoke(app, on_texas(tmp_path, data_folder))
    assert again.stdout == result.stdout
    assert "4 of 4 runs" in again.stderr
    shown = runner.invoke(app, on_texas(tmp_path, data_folder, "--show", "--json"))
    data = json.loads(shown.stdout)
    assert data["protocol"] == "validated"
    assert data["summary"]["complete"] == 2


@pytest.mark.usefixtures("short_space")
def test_a_dry_run_counts_and_makes_no_store(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = runner.invoke(app, on_texas(tmp_path, data_folder, "--dry-run", "--json"))
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["cells"], facts["runs"], facts["finished"]) == (2, 4, 0)
    assert facts["seconds"] > 0
    assert not (tmp_path / "runs.sqlite").exists()


def test_list_names_every_table_with_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from heterophily.studies.cost import RunClock

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(RunClock, "measure", lambda *_: None)
    monkeypatch.setattr(RunClock, "seconds_per_run", lambda *_: 0.001)
    result = runner.invoke(app, ["list", "--time"])
    assert result.exit_code == 0, result.output
    assert "time, " in result.stdout.splitlines()[0]
    rows = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line.strip()}
    assert rows["ablation"][1:7] == ["14", "models", "x", "9", "datasets", "1,260"]
    assert rows["w-mix"][6] == "360"
    assert rows["synthetic-metrics"][1:9] == [
        "1",
        "x",
        "28",
        "levels",
        "x",
        "10",
        "graphs",
        "8,400",
    ]
    assert {"sota", "fixed-splits", "sota-bars", "metrics", "estimates", "regular"} <= set(rows)
    searched = json.loads(runner.invoke(app, ["list", "--protocol", "validated", "--json"]).stdout)
    runs = {row["name"]: row.get("runs") for row in searched["studies"]}
    assert runs["w-mix"] == 4 * 9 * 270 * 10
    assert not list(tmp_path.iterdir())


def test_list_measures_nothing_unless_it_is_asked_for_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from heterophily.studies import cost

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a list opened a graph or trained a model")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cost.RunClock, "measure", refuse)
    monkeypatch.setattr(cost.RunClock, "seconds_per_run", refuse)
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line.strip()}
    assert rows["name"] == ["name", "size", "trainings", "what"]
    assert rows["ablation"][6] == "1,260"
    assert rows["synthetic-metrics"][8] == "8,400"
    assert "regular: heterophily paper figure regular" in result.stdout
    assert isinstance(runner.invoke(app, ["list", "--time"]).exception, AssertionError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table", "abltion"], "unknown table 'abltion'; did you mean 'ablation'"),
        (["table", "ablation", "--models", "acm-gnc"], "did you mean 'acm-gcn'"),
        (["table", "ablation", "--datasets", "texsa"], "did you mean 'texas'"),
        (["table", "ablation", "--protocol", "both"], "unknown protocol 'both'"),
        (["table", "metrics"], "is made by another command: heterophily paper metrics"),
        (["table", "regular"], "is made by another command: heterophily paper figure regular"),
        (["table", "ablation", "--out", "x.pdf"], "the file ends in .md or .json"),
        (["list", "--protocol", "both"], "unknown protocol 'both'"),
    ],
)
def test_bad_input_of_tables_is_one_sentence(arguments: list[str], message: str) -> None:
    result = runner.invoke(app, arguments)
    assert message in str(result.exception)


@pytest.mark.usefixtures("short_space")
def test_auto_records_the_engine_that_trained_and_native_names_what_it_does_not_cover(
    tmp_path: Path, data_folder: Path
) -> None:
    part = ["table", "sota", "--datasets", "texas", "--models", "acm-sgc-1,geom-gcn"]
    part += ["--repeats", "1", "--workers", "1", "--store", str(tmp_path / "runs.sqlite"), "--json"]
    part += ["--data-folder", str(data_folder), "--space", str(tmp_path / "space.toml")]
    part += ["--protocol", "validated"]
    result = runner.invoke(app, [*part, "--engine", "auto"])
    cells = {cell["row"]: cell["engine"] for cell in json.loads(result.stdout)["cells"]}
    if cells["acm-sgc-1"] == "torch":
        pytest.skip("no native engine here")
    assert cells == {"acm-sgc-1": "native", "geom-gcn": "torch"}
    refused = runner.invoke(app, [*part, "--engine", "native"])
    assert str(refused.exception).startswith("geom-gcn: engine='native': ")
    assert "'auto'" in str(refused.exception)
