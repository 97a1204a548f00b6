"""Scores in words: honest about few nodes, loud about what is undefined."""

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, random_splits
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.evaluate import Against, ScoreValue, evaluate
from heterophily.evaluation.intervals import Interval, TestSizes
from heterophily.report.evaluation_text import against_text, evaluation_lines, score_text


def sizes(nodes, splits=1):
    return TestSizes(np.array([nodes / 2, nodes / 2]), splits, nodes, 1 / 3)


def test_a_deviation_of_zero_is_left_out_and_the_interval_tells():
    text = score_text(ScoreValue((1.0,) * 10, Interval(0.61, 1.0)), sizes(6, 10))
    assert text == "1.0000 (95 % interval 0.61 to 1.00, 6 test nodes in each of 10 splits)"


def test_many_nodes_and_splits_need_no_interval_and_a_single_split_does():
    value = ScoreValue((0.8, 0.82), Interval(0.78, 0.84))
    assert score_text(value, sizes(2000, 2)) == "0.8100 ± 0.0100"
    one = ScoreValue((0.8,), Interval(0.78, 0.82))
    assert score_text(one, sizes(2000)) == "0.8000 (95 % interval 0.78 to 0.82, 2000 test nodes)"


@pytest.mark.parametrize(
    ("difference", "bounds", "words"),
    [
        (0.05, (0.01, 0.09), "better than trees: +5.0 points, 95 % interval +1.0 to +9.0"),
        (
            0.003,
            (-0.011, 0.017),
            "not clearly better than trees: +0.3 points, 95 % interval -1.1 to +1.7",
        ),
        (-0.05, (-0.09, -0.01), "worse than trees: -5.0 points, 95 % interval -9.0 to -1.0"),
    ],
)
def test_better_worse_or_neither_is_decided_by_the_interval(difference, bounds, words):
    found = Against("trees", "trees", "accuracy", None, difference, Interval(*bounds), 3, 3)
    assert against_text(found) == f"{words} (3 splits)"
    assert against_text(found, "gcn").startswith("gcn is ")


def test_what_is_missing_is_said():
    absent = Against("trees", "trees", "accuracy", absence="the graph has no features")
    assert against_text(absent) == "no comparison with trees: the graph has no features"
    undefined = Against("trees", "trees", "roc-auc", ScoreValue((float("nan"),)), splits=1)
    assert against_text(undefined) == "no comparison with trees: ROC AUC is undefined"
    few = Against("trees", "trees", "accuracy", None, 0.1, Interval(0.05, 0.15), 3, 10)
    assert against_text(few).endswith("(the first 3 of 10 splits, to save time)")


def lines_of(graph, splits):
    votes = [np.eye(2)[graph.labels] * 0.8 + 0.1 for _ in splits]
    return evaluation_lines(evaluate(graph, splits, votes, baselines=baselines(graph, splits)))


def test_the_score_that_decides_comes_first_with_baselines_and_classes():
    labels = np.repeat([0, 1], [80, 20])
    features = np.random.default_rng(0).random((100, 2))
    graph = Graph.from_edges([0], [1], labels=labels, features=features, class_names=("ok", "bad"))
    lines = lines_of(graph, list(random_splits(labels, repeats=3, seed=0)))
    assert lines[0].startswith("  test ROC AUC ")
    assert "20 test nodes in each of 3 splits" in lines[0]
    assert not any("test nodes" in line for line in lines[1:5])
    text = "\n".join(lines)
    assert "Better than always guessing the largest class (ROC AUC 0.5000): +50.0 points" in text
    assert "If nodes with a probability of at least" in text
    assert lines[-1].split() == ["bad", "12", "1.0000", "1.0000", "1.0000"]


def test_a_class_without_test_nodes_is_named_beside_the_scores():
    labels = np.repeat([0, 1], [60, 12])
    graph = Graph.from_edges([0], [1], labels=labels, class_names=("ok", "bad"), num_nodes=72)
    split = Split.from_parts(np.r_[0:20, 60:72], np.r_[20:30], np.r_[30:60], num_nodes=72)
    text = "\n".join(lines_of(graph, [split]))
    assert "ROC AUC           undefined (see the note)" in text
    assert "No test node is of class 'bad': these scores say nothing about it." in text
