"""The diagnosis for a terminal: one row per source, every number from the probe."""

from __future__ import annotations

from dataclasses import replace

from evidence import gap, made_probe

from heterophily.diagnosis.probe_value import SOURCES
from heterophily.diagnosis.text import bar, headings, limits, probe_line, score_title, source_rows

PROBE = made_probe(gap(0.123, half=0.04), gap(-0.2))


def test_each_source_has_a_row_in_the_order_of_the_sources() -> None:
    rows = source_rows(PROBE)
    assert [row[0] for row in rows] == list(SOURCES.values())
    own, average, *_, labels, everything = rows
    assert own == ("own features", "60.0", "", "")
    assert average[3] == "-20.0 (-21.0 to -19.0) alone"
    assert labels[2:] == ("72.3", "+12.3 (+8.3 to +16.3)")
    assert everything[1] == ""  # everything is tried beside own features only


def test_the_better_learner_is_shown_and_trees_have_a_star() -> None:
    trees = replace(PROBE, scores={**PROBE.scores, "trees": {"own": 0.7, "own+labels": 0.5}})
    rows = {row[0]: row for row in source_rows(trees)}
    assert rows["own features"][1] == "70.0*"
    assert rows["neighbours' labels"][2] == "72.3"


def test_without_features_a_source_stands_alone() -> None:
    bare = made_probe(gap(0.1), has_features=False)
    rows = source_rows(bare)
    assert [row[0] for row in rows] == [SOURCES[name] for name in ("structure", "labels", "all")]
    assert rows[1][1:3] == ("70.0", "")
    assert "the largest class" in headings(bare)[3]


def test_scores_are_named_as_a_reader_knows_them() -> None:
    assert score_title(PROBE) == "accuracy %"
    assert score_title(replace(PROBE, score="roc-auc")) == "ROC AUC x 100"


def test_the_line_below_the_table_says_how_it_was_made() -> None:
    line = probe_line(replace(PROBE, notes=("400 of 900 labelled nodes, drawn at random",)))
    assert "Best without the graph: 60.0 (linear)." in line
    assert "(5 folds, drawn 2 times, 400 labelled nodes). The classifiers are linear" in line
    assert line.endswith("400 of 900 labelled nodes, drawn at random.")
    assert "trees" in probe_line(replace(PROBE, tree_nodes=300))
    assert "trees" not in probe_line(replace(PROBE, tree_nodes=0))


def test_bars_stay_between_their_ends() -> None:
    assert bar(None) == bar(-3.0) == " " * 10
    assert bar(7.0) == "█" * 10
    assert limits(0.0, -0.01, 0.01) == "+0.0 (-1.0 to +1.0)"
