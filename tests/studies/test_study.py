"""Studies: declared tables, checked against the published ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterophily.data.catalog import DATASETS
from heterophily.errors import InputError, UnknownNameError
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.studies.study import Study, studies, study

TRAINED = [name for name, declared in studies().items() if declared.command is None]


def test_every_table_of_the_paper_is_declared() -> None:
    assert set(studies()) >= {
        *("ablation", "sota", "fixed-splits", "filters", "w-mix", "combined-features"),
        *("metrics", "estimates", "sota-bars"),
        *("synthetic-metrics", "synthetic-models", "regular"),
    }
    assert next(iter(studies())) == "ablation"  # Table 1 comes first


@pytest.mark.parametrize("name", sorted(set(TRAINED) - {"sota-bars", "filterbank", "field"}))
def test_rows_and_columns_are_those_of_the_published_table(name: str) -> None:
    declared = study(name)
    table = declared.table
    assert table is not None
    assert tuple(row.name for row in declared.rows) == table.models
    assert declared.datasets == table.datasets
    assert SPLIT_RULES[declared.splits].stored == table.protocol


def test_the_bars_are_a_part_of_the_big_table() -> None:
    bars, table = study("sota-bars"), study("sota").table
    assert table is not None
    assert {row.name for row in bars.rows} <= set(table.models)
    assert len(bars.datasets) == 6


@pytest.mark.parametrize("name", TRAINED)
def test_every_declared_dataset_is_in_the_catalog(name: str) -> None:
    assert set(study(name).datasets) <= set(DATASETS)


def test_variants_are_values() -> None:
    options = {row.name: dict(row.options) for name in TRAINED for row in study(name).rows}
    assert options["acm-gcn[symmetric]"] == {"normalization": "symmetric"}
    assert options["acmii-gcn[without-w-mix]"] == {"use_mix_weight": False}
    assert options["acm-gcn[combined-features]"] == {"mix_features": "combined"}


def test_deezer_europe_has_only_its_own_splits() -> None:
    rules = {cell.dataset: cell.splits for cell in study("sota").cells}
    assert rules["deezer-europe"] == "fixed"
    assert rules["texas"] == "paper-random"


def test_published_values_stand_beside_the_cells() -> None:
    ablation = study("ablation")
    printed = ablation.printed("acm-gcn", "cornell")
    assert printed is not None
    assert (printed.mean, printed.std) == (0.9475, 0.0262)
    assert ablation.printed_ms("acm-gcn", "cornell") == 8.25
    assert study("sota").printed("snowball-2", "deezer-europe") is None  # OOM in the paper


def test_a_part_keeps_the_order_of_the_table() -> None:
    part = study("ablation").part(models=["acm-gcn", "acm-sgc-1"], datasets=["texas", "cornell"])
    assert [row.name for row in part.rows] == ["acm-sgc-1", "acm-gcn"]
    assert part.datasets == ("cornell", "texas")
    assert len(part.cells) == 4


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: study("abltion"), "unknown table 'abltion'; did you mean 'ablation'"),
        (lambda: study("sota").part(models=["acm-gnc"]), "did you mean 'acm-gcn'"),
        (lambda: study("sota").part(datasets=["texsa"]), "did you mean 'texas'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(ask: object, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        ask()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ('rows = ["gcn"]\ndatasets = ["texas"]', "it needs a title"),
        ('title = "x"\nrows = ["gcn"]', "it needs rows and datasets"),
        ('title = "x"\nrows = ["gcn"]\ndatasets = ["texas"]\ncolour = 1', "unknown key of study"),
        ('title = "x"\nrows = [{model = "gcn"}]\ndatasets = ["texas"]', "a table with a name"),
        ('title = "x"\nrows = [{name = "a", depth = 2}]\ndatasets = ["t"]', "unknown key 'depth'"),
        ('title = "x"\nrows = ["gcn", "gcn"]\ndatasets = ["texas"]', "row 'gcn' occurs twice"),
        ('title = "x"\nrows = ["gcn"]\ndatasets = ["t"]\nsplits = "odd"', "unknown split rule"),
        ('title = "x"\nrows = ["gcn"]\ndatasets = ["t"]\npreset = "odd"', "unknown preset"),
        ('title = "x"\nrows = ["gcn"]\ndatasets = ["t"]\npublished = "odd"', "unknown published"),
    ],
)
def test_a_bad_study_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises((InputError, UnknownNameError), match=message):
        study(path)


def test_a_study_of_ones_own_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\nrows = ["gcn"]\ndatasets = ["texas"]\nsplits = "fixed"\n')
    mine = study(path)
    assert isinstance(mine, Study)
    assert (mine.name, mine.cells[0].splits) == ("mine", "fixed")
    with pytest.raises(InputError, match="no such file"):
        study(tmp_path / "other.toml")
