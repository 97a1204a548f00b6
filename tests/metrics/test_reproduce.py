"""The metric tables of the paper: typed correctly, and computed again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heterophily.data import catalog
from heterophily.errors import UnknownNameError
from heterophily.metrics.catalog import METRICS
from heterophily.metrics.reproduce import (
    EstimateComparison,
    MetricComparison,
    compare_estimates,
    compare_values,
    published_tables,
)
from heterophily.metrics.variants import DATASETS

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper" / "revisiting-heterophily.tex"
ROWS = {
    r"$H_\text{edge}$": ("statistics", "edge_homophily"),
    r"$H_\text{node}$": ("statistics", "node_homophily"),
    r"$H_\text{class}$": ("statistics", "class_homophily"),
    r"$H_\text{agg}^{M}(G)$": ("statistics", "modified_aggregation_homophily"),
    r"$H_\text{agg}(\mathcal{G})$": ("additional", "aggregation_homophily"),
    r"$S_\text{agg}\left(S(\hat{A},X)\right)$": ("additional", "aggregation_similarity"),
    r"$S_\text{agg}\left(S(I,X)\right)$": ("additional", "feature_similarity"),
    r"$DD_{\hat{A},X}(\mathcal{G})$": ("additional", "diversification_distinguishability"),
    r"$\hat{H}_\text{agg}(\mathcal{G})$": ("estimates", "aggregation_homophily"),
    r"$\hat{S}_\text{agg}\left(S(\hat{A},X)\right)$": ("estimates", "aggregation_similarity"),
    r"$\hat{S}_\text{agg}\left(S(I,X)\right)$": ("estimates", "feature_similarity"),
    r"$\hat{DD}_{\hat{A},X}(\mathcal{G})$": ("estimates", "diversification_distinguishability"),
}
# The formula as written on the clean graph (citeseer's 15 unlabelled nodes as class 0).
AS_WRITTEN = {
    "edge_homophily": "0.2960 0.1778 0.0609 0.2167 0.2299 0.2221 0.5251 0.8100 0.7355 0.8024",
    "node_homophily": "0.3009 0.1552 0.0567 0.2199 0.2471 0.2172 0.5299 0.8252 0.7166 0.7924",
    "class_homophily": "0.0153 0.0461 0.0000 0.0064 0.0411 0.0307 0.0304 0.7657 0.6267 0.6641",
    "aggregation_homophily": (
        "0.9016 0.8845 0.8470 0.8433 0.8050 0.6766 0.7898 0.9952 0.9913 0.9733"
    ),
}


@pytest.mark.skipif(not PAPER.is_file(), reason="the LaTeX source of the paper is not here")
def test_tables_equal_the_latex_source() -> None:
    tables = published_tables()
    found = set()
    for line in PAPER.read_text("utf-8").splitlines():
        cells = [cell.strip(" \\") for cell in line.split("&")]
        if line.strip().split(" & ")[0] not in ROWS or len(cells) < 10:
            continue
        table, metric = ROWS[line.strip().split(" & ")[0]]
        numbers = [[float(x) for x in re.findall(r"\d+\.\d+", cell)] for cell in cells[1:] if cell]
        expected: list[Any] = tables[table][metric]
        pairs = [value if isinstance(value, list) else [value] for value in expected]
        assert numbers == pairs, (table, metric)
        assert len(numbers) == len(tables[table]["datasets"])
        found.add((table, metric))
    assert found == set(ROWS.values())


@pytest.fixture(scope="module")
def values(data_folder: Path) -> list[MetricComparison]:
    return list(compare_values(data_folder=data_folder))


def test_all_thirty_values_of_the_old_metrics_agree_to_four_decimals(
    values: list[MetricComparison],
) -> None:
    old = [v for v in values if v.metric in ("edge_homophily", "node_homophily", "class_homophily")]
    assert len(old) == 30
    assert [v for v in old if not v.agrees] == []


def test_new_metrics_agree_to_four_decimals_except_for_the_ties_of_pubmed(
    values: list[MetricComparison],
) -> None:
    new = [v for v in values if v.metric in published_tables()["additional"]]
    assert len(new) == 36
    assert [(v.metric, v.dataset) for v in new if not v.agrees] == [
        ("aggregation_homophily", "pubmed")
    ]


def test_a_value_that_ties_decide_has_a_note_with_both_counts(
    values: list[MetricComparison],
) -> None:
    notes = {v.dataset: v.note for v in values if v.metric == "modified_aggregation_homophily"}
    assert {name for name, note in notes.items() if note} == {"film", "pubmed", "deezer-europe"}
    assert "26 nodes tie exactly; H_agg is 0.8445" in (notes["film"] or "")
    assert "79 nodes tie exactly; H_agg is 0.9733" in (notes["pubmed"] or "")
    assert "5,046 nodes tie exactly; H_agg is 0.7898" in (notes["deezer-europe"] or "")
    differing = [v for v in values if not v.agrees]
    assert {v.dataset for v in differing} == {"pubmed", "deezer-europe"}
    assert all(v.note for v in differing)


@pytest.mark.parametrize("dataset", DATASETS)
def test_formula_as_written_on_the_clean_graph(dataset: str, data_folder: Path) -> None:
    fill = 0 if dataset == "citeseer" else None
    graph = catalog.load(dataset, data_folder=data_folder, fill_unlabelled=fill)
    for metric, row in AS_WRITTEN.items():
        assert f"{METRICS[metric](graph):.4f}" == row.split()[DATASETS.index(dataset)]


@pytest.mark.parametrize("dataset", ["wisconsin", "film", "chameleon", "citeseer"])
def test_estimates_lie_within_the_printed_spread(dataset: str, data_folder: Path) -> None:
    cells = list(compare_estimates([dataset], data_folder=data_folder))
    assert len(cells) == 4
    assert [cell.note for cell in cells if cell.note] == []


def test_an_estimate_outside_the_spread_says_how_far() -> None:
    cell = EstimateComparison(
        "feature_similarity", "cora", 0.92, 0.003, 0.925, 0.004, (0.92, 0.93), 0.925
    )
    assert not cell.is_within_spread
    assert "1.0 standard deviations" in (cell.note or "")


def test_agreement_is_to_four_decimals() -> None:
    near = MetricComparison("edge_homophily", "cora", 0.81, 0.81004, 0.81)
    far = MetricComparison("edge_homophily", "cora", 0.81, 0.81006, 0.81)
    assert (near.agrees, far.agrees) == (True, False)
    assert np.isclose(far.difference, 6e-5)


def test_datasets_outside_the_paper_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="'minesweeper' is not in the paper's tables"):
        list(compare_values(["minesweeper"]))
