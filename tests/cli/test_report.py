"""``heterophily report`` writes one page, from training, stores and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli import compare, report, train
from heterophily.errors import HeterophilyError
from heterophily.runs.stores.url import open_store

app = typer.Typer()
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("train")(train.train)
QUICK = ["--quick", "--workers", "1", "--engine", "torch"]
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HETEROPHILY_STORE", str(tmp_path / "runs.sqlite"))

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments))
        if isinstance(result.exception, HeterophilyError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_a_report_without_models_is_one_file(run: Run, tmp_path: Path) -> None:
    text = run("report", "karate", "--quick")
    assert text.splitlines()[-1] == "wrote karate-report.html"
    assert [path.name for path in tmp_path.iterdir()] == ["karate-report.html"]


def test_models_are_trained_once_and_stored(run: Run, tmp_path: Path) -> None:
    options = ["--models", "mlp-1,acm-gcn", "--repeats", "2", "--max-epochs", "5", "--no-maps"]
    run("report", "karate", *QUICK, *options)
    page = tmp_path / "karate-report.html"
    first = page.read_text("utf-8")
    assert "<h3>Paired tests</h3>" in first
    assert "Channel weights" in first
    assert "t-SNE)" not in first
    with open_store(tmp_path / "runs.sqlite") as store:
        assert len(store) == len(store.starts()) == 4
    page.unlink()
    run("report", "karate", *QUICK, *options, "--no-train")
    assert page.read_text("utf-8") == first


def test_after_compare_the_table_comes_from_the_store(run: Run, tmp_path: Path) -> None:
    run("compare", "karate", "--models", "mlp-1,sgc-1", "--repeats", "2", "--workers", "1")
    run("report", "karate", "--quick", "--models", "mlp-1,sgc-1", "--repeats", "2", "--no-train")
    page = (tmp_path / "karate-report.html").read_text("utf-8")
    assert "<h3>Paired tests</h3>" in page
    assert "Channel weights" not in page


def test_files_of_compare_and_train_are_shown(run: Run, tmp_path: Path) -> None:
    run("compare", "karate", "--models", "mlp-1,sgc-1", "--repeats", "2", "--workers", "1",
        "--out", "c.json")  # fmt: skip
    run("report", "karate", "--quick", "--results", "c.json")
    assert "sgc-1" in (tmp_path / "karate-report.html").read_text("utf-8")
    for model in ("mlp-1", "gcn"):
        text = run("train", model, "karate", "--repeats", "2", "--max-epochs", "5", "--workers",
                   "1", "--json")  # fmt: skip
        Path(f"{model}.json").write_text(json.dumps(json.loads(text)))
    run("report", "karate", "--quick", "--results", "mlp-1.json", "--results", "gcn.json")
    page = (tmp_path / "karate-report.html").read_text("utf-8")
    assert "<h3>Paired tests</h3>" in page


def test_tables_are_read_like_everywhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"{k},{(k + 1) % 30}\n" for k in range(30)))
    (tmp_path / "n.csv").write_text(
        "id,y\n" + "".join(f"{k},{'<b>' if k % 2 else 'x'}\n" for k in range(30))
    )
    run("report", "--edges", "e.csv", "--nodes", "n.csv", "--label", "y", "--out", "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<b>" not in page
    assert "report --edges e.csv --nodes n.csv --label y" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["karate", "--models", "gcn", "--results", "x"], "contradict"),
        (["karate", "--quick", "--models", ","], "--models is empty"),
        (["karate", "--quick", "--models", "gnc"], "did you mean 'gcn'"),
        (["karate", "--quick", "--models", "gcn", "--no-train"], "there is no store here"),
        (["karate", "--quick", "--results", "none.json"], "no such file"),
        (["karate", "--quick", "--out", "no/such/r.html"], "there is no folder"),
        ([], "name one graph"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], message: str) -> None:
    with pytest.raises(HeterophilyError, match=message) as error:
        run("report", *arguments)
    assert "\n" not in str(error.value)
