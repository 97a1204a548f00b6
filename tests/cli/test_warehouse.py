"""``diagnose`` on tables in a database, and on files that exceed memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warehouses import random_tables, write_files

pytest.importorskip("ibis", reason="ibis is not installed: pip install 'heterophily[warehouse]'")

from heterophily.cli.app import app
from heterophily.data import memory
from heterophily.data.memory import memory_limit

run = CliRunner().invoke


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path, *random_tables(1, 2, num_nodes=90))


def test_files_that_exceed_memory_are_diagnosed_on_disk_and_the_answer_says_so(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["diagnose", "--edges", files[0], "--nodes", files[1], "--quick", "--json"]
    inside = json.loads(run(app, words).stdout)
    monkeypatch.setattr(memory, "SMALLEST_ON_DISK", 0)
    monkeypatch.setattr("heterophily.cli.disk._SMALL", 0)
    monkeypatch.setattr("heterophily.diagnosis.disk.memory_of_diagnosis", lambda *_: 0)
    with memory_limit(30_000):
        done = run(app, words)
    assert done.exit_code == 0, done.output
    outside = json.loads(done.stdout)
    assert outside["counted_by"] == "disk"
    assert "counted_by" not in inside
    assert outside["verdict"]["kind"] == inside["verdict"]["kind"]
    assert "The graph stayed on disk" in outside["verdict"]["notes"][0]
    assert outside["probe"]["scores"]["linear"]["own"] == pytest.approx(
        inside["probe"]["scores"]["linear"]["own"], abs=0.02
    )
    left_out = {name for name, value in outside["metrics"].items() if value is None}
    assert left_out == {
        *("aggregation_similarity", "feature_similarity", "diversification_distinguishability"),
        "effective_homophily",
    }
    for name in inside["metrics"].keys() - left_out:
        assert outside["metrics"][name] == pytest.approx(inside["metrics"][name], abs=1e-7)
    counted = ("nodes", "edges", "edge_rows", "isolated_nodes", "class_sizes",
               "unlabelled_nodes", "features")  # fmt: skip
    assert {key: outside["graph"][key] for key in counted} == {
        key: inside["graph"][key] for key in counted
    }
    facts = outside["graph"]  # on disk an edge given both ways is a duplicate too
    assert facts["edge_rows"] == sum(
        facts[key] for key in ("edges", "duplicates_merged", "self_loops_found")
    )
    assert outside["next"]["command"].startswith("heterophily convert --edges ")


def test_tables_of_a_database_are_diagnosed_and_a_page_is_written(files: tuple[str, str]) -> None:
    import duckdb

    with duckdb.connect("bank.duckdb") as base:
        base.execute(f"CREATE TABLE transfers AS FROM '{files[0]}'")
        base.execute(f"CREATE TABLE accounts AS FROM '{files[1]}'")
    where = f"duckdb://{Path('bank.duckdb').resolve()}"
    words = ["diagnose", "--connect", where, "--edges", "transfers", "--nodes", "main.accounts"]
    done = run(app, [*words, "--quick"])
    assert done.exit_code == 0, done.output
    assert "The tables stayed in duckdb://" in " ".join(done.output.split())
    assert "transfers: 90 nodes" in done.output
    assert "exactly" in Path("transfers-diagnosis.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["karate"], "--connect needs the names of two tables"),
        (["--edges", "a", "--nodes", "b"], "has no such table"),
        (
            ["--edges", "a", "--nodes", "b", "--weight", "w"],
            "--weight works only for graphs in memory",
        ),
        (["--edges", "a"], "needs --nodes too"),
    ],
)
def test_what_a_database_cannot_do_is_one_sentence(words: list[str], told: str) -> None:
    done = run(app, ["diagnose", "--connect", "duckdb://", *words])
    assert done.exit_code != 0
    assert told in (str(done.exception) + done.output)
