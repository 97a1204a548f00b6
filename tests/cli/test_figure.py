"""``heterophily paper figure`` trains, draws, and goes on where it stopped."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from heterophily.cli.figure import SyntheticOptions, app
from heterophily.cli.spread import RunOptions
from heterophily.errors import HeterophilyError
from heterophily.runs import job
from heterophily.runs.stores.url import ENVIRONMENT
from heterophily.studies.synthetic import LEVELS

TINY = ["--levels", "2", "--graphs", "1", "--nodes", "20", "--max-epochs", "3", "--workers", "1"]
COMMON = ["--quick", "--seed", "1", *TINY]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT)

    def call(*arguments):
        result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "pictures")])
        if isinstance(result.exception, HeterophilyError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def study(**given):
    figure, base = given.pop("figure", "synthetic-metrics"), given.pop("base", None)
    return SyntheticOptions(**given).study(figure, base, RunOptions())


def test_without_options_it_is_the_study_of_the_paper() -> None:
    full = study()
    assert (full.base, full.levels, full.graphs) == ("cora", LEVELS, 10)
    assert (full.classes, full.nodes_per_class, full.intra_degree) == (5, 400, 2.0)
    assert (full.search, full.max_epochs) == ("paper", 5000)
    assert len(list(full.units())) == 2 * 280
    regular = study(figure="regular")
    assert (len(regular.levels), regular.intra_degree) == (18, 10.0)


def test_quick_is_seven_levels_three_graphs_on_digits() -> None:
    small = study(quick=True)
    assert (small.base, len(small.levels), small.graphs, small.search) == ("digits", 7, 3, "small")
    assert study(quick=True, graphs=5).graphs == 5


def test_regular_levels_at_ends_are_drawn_with_the_zero_of_g(run, tmp_path) -> None:
    text = run("regular", "--quick", "--levels", "2", "--graphs", "1", "--nodes", "170",
               "--max-epochs", "2", "--workers", "1")  # fmt: skip
    assert "g(h) of Proposition 1 is 0 at 0.1852" in text
    made = {path.name for path in (tmp_path / "pictures").iterdir() if path.is_file()}
    assert made >= {f"regular-digits.{kind}" for kind in ("svg", "png", "json")} | {"runs.sqlite"}


@pytest.mark.parametrize("generator", ["edge-homophily", "degree-then-edges"])
def test_metrics_print_the_order_and_write_pictures_and_records(run, tmp_path, generator) -> None:
    options = ["--nodes", "170", "--levels", "1"]
    text = run("synthetic-metrics", *COMMON, *options, "--generator", generator)
    assert text.count("pairs out of order") == 8
    suffix = "-as-written" if generator == "degree-then-edges" else ""
    data = tmp_path / "pictures" / f"synthetic-metrics-digits{suffix}.json"
    assert len(json.loads(data.read_text("utf-8"))["units"]) == 2


def test_a_second_call_trains_nothing_and_draws_the_same(run, tmp_path, monkeypatch) -> None:
    options = ["synthetic-metrics", *COMMON, "--levels", "1", "--nodes", "170", "--json"]
    first = run(*options)
    picture = tmp_path / "pictures" / "synthetic-metrics-digits.svg"
    before = picture.read_bytes()

    def refuse(*arguments):
        raise AssertionError("trained again")

    monkeypatch.setattr(job, "train_run", refuse)
    assert run(*options) == first
    assert picture.read_bytes() == before
    data = json.loads(first)
    assert set(data["order"]) == {
        "edge_homophily",
        "node_homophily",
        "class_homophily",
        "modified_aggregation_homophily",
    }
    assert data["study"]["seed"] == 1


def test_its_store_is_the_one_of_the_environment_where_no_other_is_named(
    run, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "mine.sqlite"))
    run("synthetic-metrics", *COMMON, "--levels", "1", "--nodes", "170")
    assert (tmp_path / "mine.sqlite").is_file()
    assert not (tmp_path / "pictures" / "runs.sqlite").exists()


def test_models_compare_six_on_every_base(run) -> None:
    options = ["--levels", "1", "--nodes", "170", "--json"]
    data = json.loads(run("synthetic-models", *COMMON, *options))
    assert set(data["studies"][0]["curves"]) == {
        "mlp-1", "sgc-1", "acm-sgc-1", "mlp-2", "gcn", "acm-gcn",
    }  # fmt: skip


def test_toy_examples_are_drawn_without_training(run) -> None:
    assert run("toy").count("wrote") == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["synthetic-metrics", "--levels", "40"], "levels=40; choose 1 to 28"),
        (["synthetic-metrics", "--search", "huge"], "unknown search 'huge'"),
        (["synthetic-metrics", "--generator", "erdos"], "unknown generator 'erdos'"),
        (["synthetic-metrics", "--base", "cara", "--offline"], "did you mean 'cora'"),
        (["synthetic-models", "--against", "edge"], "unknown metric 'edge'"),
        (
            ["synthetic-metrics", *COMMON, "--nodes", "30"],
            "room for 9,000 edges between classes",
        ),
    ],
)
def test_bad_wishes_are_one_sentence(run, arguments, message) -> None:
    with pytest.raises(HeterophilyError, match=message):
        run(*arguments)
