"""Figures show the points they are given, in the order of the metric, and say how ordered it is."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.report.style import LINE_STYLES, SYMBOLS, line_style, save, style
from heterophily.report.synthetic_figures import (
    metrics_figure,
    models_figure,
    order_table,
    regular_figure,
)
from heterophily.studies.synthetic_curves import Point


def point(level: float, accuracy: float, aggregation: float) -> Point:
    metrics = dict.fromkeys(SYMBOLS, (level, level))
    metrics["modified_aggregation_homophily"] = (aggregation, aggregation)
    return Point(level, {}, (accuracy - 0.1, accuracy + 0.1), metrics)


def u_shape() -> list[Point]:
    """The example of the appendix: accuracy 0.8, 0.5, 0.9 at H_agg^M 0.7, 0.4, 0.8."""
    return [point(0.1, 0.8, 0.7), point(0.5, 0.5, 0.4), point(0.9, 0.9, 0.8)]


def line(panel, label: str):
    return next(c for c in panel.containers if c.get_label() == label).lines[0]


def test_levels_are_reordered_by_the_metric_of_the_panel() -> None:
    figure = metrics_figure({"gcn": u_shape()}, base="digits")
    edge, *_, aggregation = figure.axes
    assert line(edge, "GCN").get_ydata().tolist() == pytest.approx([0.8, 0.5, 0.9])
    drawn = line(aggregation, "GCN")
    assert drawn.get_xdata().tolist() == pytest.approx([0.4, 0.7, 0.8])
    assert drawn.get_ydata().tolist() == pytest.approx([0.5, 0.8, 0.9])


def test_the_measured_order_stands_under_each_panel() -> None:
    figure = metrics_figure({"gcn": u_shape()}, base="digits")
    labels = [panel.get_xlabel() for panel in figure.axes]
    assert "GCN: Spearman +0.50, 1 of 3 pairs out of order" in labels[0]
    assert "GCN: Spearman +1.00, 0 of 3 pairs out of order" in labels[3]
    table = order_table({"gcn": u_shape()})
    assert table["edge_homophily"]["gcn"].violations == 1


def test_the_zero_of_g_is_marked_in_both_panels() -> None:
    figure = regular_figure({"gcn": u_shape()}, base="digits", classes=5, intra_degree=10)
    for panel in figure.axes:
        marked = [ln.get_xdata()[0] for ln in panel.lines if len(set(ln.get_xdata())) == 1]
        assert 5 / 27 in np.round(marked, 10) or pytest.approx(5 / 27) in marked
    assert "0.1852" in figure.axes[1].texts[0].get_text()


def test_models_have_a_column_per_base_and_a_row_per_family() -> None:
    families = [{"sgc-1": u_shape()}, {"gcn": u_shape(), "acm-gcn": u_shape()}]
    figure = models_figure({"cora": families, "film": families})
    assert len(figure.axes) == 4
    titles = [panel.get_title() for panel in figure.axes]
    assert titles == ["syn-cora", "syn-film", "", ""]


def test_models_are_told_apart_without_colour() -> None:
    for family in (("mlp-1", "sgc-1", "acm-sgc-1"), ("mlp-2", "gcn", "acm-gcn")):
        assert len({LINE_STYLES[model].marker for model in family}) == 3
    assert line_style("unheard-of").label == "unheard-of"


def test_the_same_figure_is_the_same_file(tmp_path) -> None:
    contents = []
    for name in ("a", "b"):
        figure = metrics_figure({"gcn": u_shape()}, base="digits")
        with style():
            written = save(figure, tmp_path / f"{name}.quick")
        assert [path.name for path in written] == [f"{name}.quick.svg", f"{name}.quick.png"]
        contents.append([path.read_bytes() for path in written])
    assert contents[0] == contents[1]
    assert b"Spearman" in contents[0][0]  # text stays text
