"""Charts: data land where the axes say, titles are escaped, labels find room."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from heterophily.page.svg import (
    Chart,
    PointLabels,
    cloud,
    clouds,
    figure,
    legend,
    picture,
    strip,
    ticks,
)


def chart() -> Chart:
    return Chart(x=(0, 10), y=(0, 1), across="x", up="y", width=200, height=100)


def test_ends_of_the_range_are_the_ends_of_the_frame() -> None:
    frame = chart()
    assert (frame.x(0), frame.x(10)) == (frame.left, frame.right)
    assert (frame.y(0), frame.y(1)) == (frame.bottom, frame.top)


def test_a_range_without_width_does_not_divide_by_zero() -> None:
    frame = Chart(x=(2, 2), y=(0, 0))
    assert frame.x(2) == frame.left
    assert "nan" not in frame.html("flat")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 7.9), (0.001, 0.0023), (5, 4000)])
def test_ticks_are_inside_the_range_and_at_equal_distances(low: float, high: float) -> None:
    found = ticks(low, high)
    steps = [b - a for a, b in pairwise(found)]
    assert low <= found[0]
    assert found[-1] <= high
    assert 2 <= len(found) <= 8
    assert max(steps) == pytest.approx(min(steps))


def test_titles_and_alternative_texts_are_escaped() -> None:
    frame = chart()
    frame.dot(1, 0.5, "<b>")
    frame.bar((0, 1), 0.5, "'\"")
    frame.text(0, 0, "</text><script>")
    html = frame.html("'><script>alert(1)</script>")
    assert "<script" not in html
    assert "<title>&lt;b&gt;</title>" in html
    assert "<title>&#x27;&quot;</title>" in html


def test_a_stepped_path_goes_first_across_then_up() -> None:
    frame = chart()
    frame.path([(0, 0), (5, 1)], "s0", is_stepped=True)
    assert re.search(r"M58.0 \S+H123.0V10.0", frame.marks[-1])


def test_an_empty_cloud_is_nothing_and_dots_are_whole_pixels() -> None:
    assert cloud([], "s1") == ""
    assert cloud([(1.4, 2.6)], "s1") == "<path class='cloud s1' d='M1 3h0'/>"


def test_clouds_take_turns_and_lose_no_point() -> None:
    groups = {"s0": [(float(k), 0.0) for k in range(9)], "s1": [(float(k), 1.0) for k in range(3)]}
    html = clouds(groups)
    assert html.count("h0") == 12
    kinds = re.findall(r"cloud (s\d)", html)
    assert kinds == ["s0", "s1", "s0", "s1", "s0", "s1", "s0"]


def test_two_labels_at_one_point_do_not_overlap() -> None:
    labels = PointLabels(0, 400)
    first, second = (labels.place(200, 100, 10) for _ in range(2))
    assert first != second
    start, end = second[0], second[0] + 61
    assert end < first[0] or start > first[0] + 61 or abs(first[1] - second[1]) > 10


def test_a_label_near_the_right_edge_goes_to_the_left_of_its_point() -> None:
    start, _ = PointLabels(0, 400).place(390, 100, 10)
    assert start + 61 < 390


def test_values_outside_zero_to_one_stay_on_the_line() -> None:
    assert "cx='0.0'" in strip(-0.3)
    assert "cx='200.0'" in strip(1.7)
    assert "circle" not in strip(None)


def test_names_in_legends_and_captions_are_escaped() -> None:
    html = legend(["<i>"]) + figure(picture(1, 1, "", "x"), "<u>")
    assert "<i>" not in html
    assert "<u>" not in html
