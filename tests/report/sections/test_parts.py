"""The parts of the report show the numbers of their records."""

from __future__ import annotations

import re

import numpy as np
import pytest
from report.made import portrait, ring

from heterophily.comparison.compare_finished import compare_portraits
from heterophily.data.splits import random_splits
from heterophily.metrics.catalog import METRICS
from heterophily.report.figures.compatibility import matrix
from heterophily.report.figures.local_homophily import histogram
from heterophily.report.model_records import model_records
from heterophily.report.sections.compatibility import compatibility_part
from heterophily.report.sections.formulas import FORMULAS, formulas_part
from heterophily.report.sections.local_homophily import local_homophily_part
from heterophily.report.sections.maps import maps_part
from heterophily.report.sections.models import accuracy_part, curves_part, weights_part
from heterophily.report.sections.results import results_part


def compared(**wrong: int) -> dict[str, object]:
    """Models on four splits; ``wrong`` tells how many predictions of each are wrong."""
    graph = ring(40)
    portraits = {}
    for model, count in wrong.items():
        guess = np.where(np.arange(40) < count, 1 - graph.labels, graph.labels)
        portraits[model] = [
            portrait(graph, model=model, split=k, predictions=guess, test=np.arange(40) % 4 == k)
            for k in range(4)
        ]
    return compare_portraits(portraits).to_dict()


def test_bars_tell_their_range_and_share() -> None:
    html = local_homophily_part(histogram(ring(40)))
    assert "<title>0.50 to 0.55: 40 nodes (100.0 %)</title>" in html
    assert "The dashed line is the mean, 0.500." in html


def test_cells_are_as_dark_as_their_share() -> None:
    html = compatibility_part(matrix(ring(40)))
    assert html.count("rgba(var(--heat),0.530)") == 4
    assert "class 0 to class 1: 50.0 % of the neighbours" in html
    assert "Nodes per class: 0 (20), 1 (20)." in html


def test_results_are_sorted_and_every_split_is_a_dot() -> None:
    html = results_part(compared(gcn=20, good=0))  # type: ignore[arg-type]
    assert html.index(">good<") < html.index(">gcn<")
    assert html.count("<title>split ") == 8
    assert ">100.0<" in html
    assert "± 0.0<" not in html  # it would look like certainty
    assert "Paired tests" in html


def test_baselines_stand_in_the_table_and_classes_below_it() -> None:
    graph = ring(40)
    splits = list(random_splits(graph.labels, repeats=2, seed=0))
    made = {
        "gcn": [
            portrait(graph, model="gcn", split=k, predictions=graph.labels, test=split.test)
            for k, split in enumerate(splits)
        ]
    }
    found = compare_portraits(made, graph=graph, splits=splits).to_dict()
    html = results_part(found)
    assert ">baseline: always guessing the largest class<" in html
    assert (
        "gcn is better than always guessing the largest class (accuracy 0.5000): +50.0 points"
        in html
    )
    assert "better than gradient-boosted trees on own features (accuracy " in html
    assert "<h3>Classes</h3>" in html
    assert "true class by row, predicted by column" in html
    assert html.count("<td class='number' data-order='8'>8</td>") == 2  # nodes of both classes


def test_one_model_has_a_table_and_no_test() -> None:
    html = results_part(compared(gcn=3))  # type: ignore[arg-type]
    assert "There is no paired test." in html
    assert "<h3>Paired tests</h3>" not in html


def test_models_that_are_not_told_apart_are_named() -> None:
    html = results_part(compared(a=4, b=4))  # type: ignore[arg-type]
    assert "Best: a; not clearly worse: b." in html


@pytest.fixture(scope="module")
def records() -> dict[str, object]:
    graph = ring(40)
    made = {m: [portrait(graph, model=m, split=k) for k in range(2)] for m in ("gcn", "acm-gcn")}
    return model_records(made, graph)


def test_points_tell_accuracy_and_number_of_nodes(records) -> None:
    html = accuracy_part(records["accuracy"], "ring")
    assert "acm-gcn, homophily 0.4 to 0.6: 100.0 ± 0.0 % on 40 test nodes" in html
    assert "n = 40" in html
    assert "n = 0" in html


def test_each_layer_has_a_chart_and_its_means_add_up(records) -> None:
    html = weights_part(records["weights"][:1])
    assert "weight, hidden layer" in html
    assert "weight, output layer" in html
    means = [float(text) for text in re.findall(r"data-order='[^']+'>(0\.\d+)</td>", html)]
    assert sum(means) == pytest.approx(2.0, abs=0.01)
    assert "all 40 nodes" in html


def test_the_reported_epoch_is_marked(records) -> None:
    assert "acm-gcn: reported epoch 15, loss 1.324" in curves_part(records["curves"], "ring")


def test_maps_draw_each_node_once_and_say_that_all_are_shown(records) -> None:
    html = maps_part(records["maps"])
    assert html.count("h0") == 3 * 40  # input and two outputs
    assert "All 40 nodes." in html


def test_many_classes_share_the_last_colour(records) -> None:
    maps = {
        **records["maps"],
        "classes": list("abcdefghijkl"),
        "labels": [k % 12 for k in range(40)],
    }
    html = maps_part(maps)
    assert "other classes" in html
    assert len(set(re.findall(r"cloud (s\d)", html))) == 7


def test_every_metric_has_its_formula() -> None:
    names = {name.lower().replace(" ", "_") for name in FORMULAS}
    assert set(METRICS) <= names
    assert formulas_part().startswith("<details>")
