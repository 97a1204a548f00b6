"""The tables of hyper-parameters: equal to the LaTeX of the paper, and safe to train with."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from heterophily.errors import UnknownNameError
from heterophily.paper.printed import PROTOCOLS, read_file
from heterophily.paper.published_tables import published_table
from heterophily.paper.ranges import RANGE_FILES, search_range
from heterophily.paper.tuned import TUNED_FILES, optimal, tuned

PaperRows = Callable[[str], list[list[str]]]
Cells = dict[tuple[str, str, str], Any]

COLUMN_NAMES = {
    "weight\\_decay": "weight_decay",
    "\\# layers": "layers",
    "Gat heads": "heads",
    "head": "heads",
    "JK Type": "jk",
    "JK type": "jk",
    "alpha\\_l": "alpha_l",
    "with A": "with_structure",
    "results": "accuracy",
}


def value(text: str) -> Any:
    """Return the number, word or truth value that a cell prints."""
    if text in ("Y", "N"):
        return text == "Y"
    try:
        return float(text)
    except ValueError:
        return text


# --- optima ------------------------------------------------------------------------------------


def printed_optima(rows: list[list[str]]) -> dict[tuple[str, str, str], str]:
    """Return (dataset, model, column) -> text of every cell that prints something."""
    header = [COLUMN_NAMES.get(name, name) for name in rows[0][2:-1]]
    cells: dict[tuple[str, str, str], str] = {}
    dataset = ""
    for first, model, *texts, times in rows[1:]:
        dataset = first.lower() or dataset
        model = model.lower().replace("(with xx)", "")
        assert len(header) == len(texts)
        cells |= {
            (dataset, model, name): text
            for name, text in zip(header, texts, strict=True)
            if text not in ("-", "")
        }
        if times:
            found = re.fullmatch(r"([\d.]+) ?ms/([\d.]+)s?", times)
            assert found is not None, times
            cells[dataset, model, "ms_per_epoch"] = found[1]
            cells[dataset, model, "seconds_per_run"] = found[2]
    return cells


def stored_optima(name: str) -> Cells:
    table = read_file("hyperparameters", name)
    return {
        (dataset, row[0], column): cell
        for dataset, rows in table["rows"].items()
        for row in rows
        for column, cell in zip(table["columns"][1:], row[1:], strict=True)
        if cell != "-"
    }


@pytest.mark.parametrize("name", TUNED_FILES)
def test_every_optimum_equals_the_latex_and_nothing_is_added(
    name: str, paper_rows: PaperRows
) -> None:
    table = read_file("hyperparameters", name)
    printed = printed_optima(paper_rows(table["label"]))
    for dataset, model, column, text, _ in table.get("misprints", []):
        assert printed.pop((dataset, model, column)) == text
    expected = {
        key: [float(part) for part in text.split(",")] if "," in text else value(text)
        for key, text in printed.items()
    }
    assert stored_optima(name) == expected


@pytest.mark.parametrize(
    ("name", "rows"), list(zip(TUNED_FILES, (113, 96, 40, 81, 36), strict=True)), ids=TUNED_FILES
)
def test_number_of_tuned_rows(name: str, rows: int) -> None:
    assert len({key[:2] for key in stored_optima(name)}) == rows


def every_tuned() -> list[tuple[str, str, str]]:
    return sorted(
        {
            (model, dataset, protocol)
            for name in TUNED_FILES
            for dataset, model, _ in stored_optima(name)
            for protocol in PROTOCOLS
        }
    )


def test_every_optimum_is_a_setting_that_can_train() -> None:
    whole, real = {"hidden", "layers", "heads"}, {"lr", "weight_decay", "dropout", "lambda"}
    count = 0
    for model, dataset, protocol in every_tuned():
        best = optimal(model, dataset, protocol)
        if best is None:
            continue
        count += 1
        assert {"lr", "weight_decay", "dropout", "hidden"} <= best.keys()
        assert 0 < best["lr"] <= 0.1  # type: ignore[operator]
        assert 0 <= best["weight_decay"] <= 0.01  # type: ignore[operator]
        assert 0 <= best["dropout"] < 1  # type: ignore[operator]
        assert all(type(best[key]) is int for key in whole & best.keys())
        assert all(type(best[key]) is float for key in real & best.keys())
        assert ("jk" in best) == model.endswith("+jk")
        assert ("heads" in best) == (model == "gat+jk")
        assert ("lambda" in best) == ("gcnii" in model)
        assert ("with_structure" in best) == model.endswith("+")
    # 366 rows; the 13 of deezer-europe count twice, FAGCN on squirrel (fixed) is unusable.
    assert count == 366 + 13 - 1


def test_optima_typed_by_hand() -> None:
    assert optimal("acmii-gcn", "cora", "random") == {
        "lr": 0.1,
        "weight_decay": 5e-3,
        "dropout": 0.4,
        "hidden": 64,
        "layers": 2,
    }
    assert optimal("acmii-gcn++", "pubmed", "fixed") == {
        "lr": 0.002,
        "weight_decay": 5e-6,
        "dropout": 0.4,
        "hidden": 64,
        "with_structure": False,
    }
    assert optimal("gcnii*", "film", "random") == {
        "lr": 0.01,
        "weight_decay": 1e-6,
        "dropout": 0.5,
        "hidden": 64,
        "layers": 4,
        "lambda": 1.0,
        "alpha_l": 0.1,
    }
    gat = optimal("gat+jk", "texas", "random")
    assert gat is not None
    assert (gat["heads"], gat["jk"], gat["hidden"]) == (2, "cat", 8)


def test_tuned_row_keeps_result_times_and_tied_weight_decays() -> None:
    row = tuned("acm-gcn", "chameleon", "random")
    assert row is not None
    assert (row.result.mean, row.result.std, row.source) == (0.6818, 0.0167, "random-acm")
    assert (row.ms_per_epoch, row.seconds_per_run) == (10.55, 3.12)
    tied = tuned("acm-sgc-1", "deezer-europe", "random")
    assert tied is not None
    assert tied.weight_decays == (0.0, 5e-6, 1e-5, 5e-5)
    assert tied.hyperparameters["weight_decay"] == 0.0
    untimed = tuned("gcnii", "texas", "random")
    assert untimed is not None
    assert untimed.ms_per_epoch is None


def test_deezer_europe_answers_to_both_protocols() -> None:
    assert optimal("acm-gcn", "deezer-europe", "fixed") is not None
    assert tuned("acm-gcn", "deezer-europe", "fixed") == tuned("acm-gcn", "deezer-europe", "random")


def test_printed_learning_rate_of_zero_gives_no_optimum() -> None:
    assert tuned("fagcn", "squirrel", "fixed") is not None
    assert optimal("fagcn", "squirrel", "fixed") is None


def test_models_without_an_optimum_give_none() -> None:
    assert optimal("mlp-2", "cornell", "random") is None
    assert optimal("acm-gcn", "my-graph", "random") is None
    assert optimal("gcn", "cornell", "fixed") is None


def test_low_pass_rows_of_the_ablation_share_the_optima_of_the_backbones() -> None:
    assert optimal("acm-gcn[low]", "cora", "random") == optimal("gcn", "cora", "random")
    assert optimal("acm-sgc-1[low]", "cora", "random") == optimal("sgc-1", "cora", "random")


def test_a_caller_may_change_what_it_got() -> None:
    best = optimal("acm-gcn", "cora", "random")
    assert best is not None
    best["lr"] = 7.0
    search_range("acm-gcn", "cora")["lr"].append(7.0)
    again = optimal("acm-gcn", "cora", "random")
    assert again is not None
    assert again["lr"] == 0.1
    assert search_range("acm-gcn", "cora")["lr"] == [0.01, 0.05, 0.1]


def test_unknown_protocol_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown protocol 'randm'.*known: fixed, random"):
        optimal("acm-gcn", "cora", "randm")


def test_plus_rows_of_sota_are_swapped_against_the_hyperparameters() -> None:
    sota = published_table("sota")
    for dataset in sota.datasets:
        for model, other in (("acm-gcn++", "acmii-gcn+"), ("acmii-gcn+", "acm-gcn++")):
            row, printed = tuned(other, dataset, "random"), sota.cell(model, dataset)
            assert row is not None
            assert printed is not None
            assert (row.result.mean, row.result.std) == (printed.mean, printed.std)


# --- search ranges -----------------------------------------------------------------------------

ABLATION_NAMES = {
    "SGC-LP+HP": ["acm-sgc-1[low,high]"],
    "SGC-LP+Identity": ["acm-sgc-1[low,identity]"],
    "ACM-SGC-no adaptive mixing": ["acm-sgc-1[sum]"],
    "GCN-LP+HP": ["acm-gcn[low,high]", "acmii-gcn[low,high]"],
    "GCN-LP+Identity": ["acm-gcn[low,identity]", "acmii-gcn[low,identity]"],
    "ACM-GCN-no adaptive mixing": ["acm-gcn[sum]", "acmii-gcn[sum]"],
}


def model_names(text: str) -> list[str]:
    """Expand "Baselines: <GCN, FAGCN>; ACM-<GCN, GCN+>" and plain lists."""
    if text in ABLATION_NAMES:
        return ABLATION_NAMES[text]
    groups = re.findall(r"(?:Baselines: |(ACM-|ACMII-))<([^>]*)>", text) or [("", text)]
    return [
        prefix.lower() + name.strip().lower()
        for prefix, names in groups
        for name in names.split(",")
    ]


def choices(text: str) -> list[Any]:
    return [value(part.strip()) for part in text.strip("<> ").split(",")]


def printed_ranges(name: str, rows: list[list[str]]) -> Cells:
    """Return (model, column, "others" or "deezer-europe") -> choices."""
    misprints = {
        (models, column): text
        for models, column, text, _ in read_file("hyperparameters", name).get("misprints", [])
    }
    header = [COLUMN_NAMES.get(column, column) for column in rows[0][1:]]
    found: Cells = {}
    for models, *texts in rows[1:]:
        for column, text in zip(header, texts, strict=True):
            if text == "-":
                continue
            if (models, column) in misprints:
                assert misprints.pop((models, column)) == text
                text = text.replace("0,4", "0.4")
            both = re.fullmatch("(.*) for Deezer-Europe and (.*) for others", text)
            for model in model_names(models):
                if both:
                    found[model, column, "deezer-europe"] = choices(both[1])
                found[model, column, "others"] = choices(both[2] if both else text)
    assert not misprints
    return found


def stored_ranges(name: str) -> Cells:
    found: Cells = {}
    for entry in read_file("hyperparameters", name)["ranges"]:
        for model in entry["models"]:
            for key, content in entry.items():
                if isinstance(content, dict):
                    found |= {(model, column, key): item for column, item in content.items()}
                elif key != "models":
                    found[model, key, "others"] = content
    return found


@pytest.mark.parametrize("name", RANGE_FILES)
def test_every_search_range_equals_the_latex_and_nothing_is_added(
    name: str, paper_rows: PaperRows
) -> None:
    rows = paper_rows(read_file("hyperparameters", name)["label"])
    assert stored_ranges(name) == printed_ranges(name, rows)


def test_deezer_europe_has_its_own_range_and_other_graphs_share_one() -> None:
    deezer, other = search_range("gcnii", "deezer-europe"), search_range("gcnii", "my-graph")
    assert deezer["layers"] == [4, 8, 16, 32]
    assert other["layers"] == [4, 8, 16, 32, 64]
    assert deezer["lambda"] == other["lambda"]
    assert search_range("graphsage", "deezer-europe")["hidden"] == [8]


def test_alpha_range_has_the_intended_four_tenths() -> None:
    assert search_range("gcnii", "cora")["alpha_l"] == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_synthetic_range_is_its_own() -> None:
    assert search_range("acm-gcn", "synthetic")["lr"] == [0.05]
    assert "hidden" not in search_range("mlp-1", "synthetic")


def test_grid_of_acm_gcn_has_270_settings() -> None:
    space = search_range("acm-gcn", "cornell")
    assert len(space["lr"]) * len(space["weight_decay"]) * len(space["dropout"]) == 270


def test_model_without_a_range_is_refused_by_name() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown model with a search range .*'acm-gnc'; did"
    ):
        search_range("acm-gnc", "cora")


def test_optima_outside_the_search_range_are_the_known_ones() -> None:
    outside = set()
    for model, dataset, protocol in every_tuned():
        row = tuned(model, dataset, protocol)
        if row is None or model in ("appnp", "gprgnn"):  # no range printed
            continue
        space = search_range(model, dataset)
        outside |= {
            (model, key, best)
            for key, best in row.hyperparameters.items()
            if key in space and best not in space[key]
        }
    plus = ("acm-gcn+", "acmii-gcn+", "acm-gcn++", "acmii-gcn++")
    assert outside == {
        *((model, "lr", 0.002) for model in (*plus, "fagcn")),
        ("fagcn", "lr", 0.02),
        ("fagcn", "hidden", 32),
        *((model, "weight_decay", 1e-6) for model in ("gcnii", "gcnii*", "acm-gcn+")),
    }


def test_reading_the_tables_loads_neither_torch_nor_numpy() -> None:
    code = (
        "import sys\n"
        "from heterophily.paper.published_tables import published_accuracy\n"
        "from heterophily.paper.ranges import search_range\n"
        "search_range('gcn', 'cora'); published_accuracy('gcn', 'cora', 'random')\n"
        "print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
