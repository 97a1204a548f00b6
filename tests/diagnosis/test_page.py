"""The parts of the page draw what the probe found."""

from __future__ import annotations

import re

import pytest
from evidence import NO, gap, made_probe

from heterophily.data.catalog import load
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.page import gains_chart, probe_part, verdict_part
from heterophily.diagnosis.probe_value import SOURCES


def test_every_source_from_the_graph_has_a_dot_with_its_interval() -> None:
    html = gains_chart(made_probe(gap(0.123, half=0.04), gap(-0.2)))
    titles = re.findall(r"<title>([^<]*)</title>", html)
    assert any(t.endswith("+12.3 points (95 % interval +8.3 to +16.3)") for t in titles)
    assert any(t.startswith("average with neighbours alone: -20.0 points") for t in titles)
    assert sum("interval" in title for title in titles) == 5


def test_colours_follow_what_counts_as_a_difference() -> None:
    html = gains_chart(made_probe({"labels": gap(0.2), "structure": gap(0.002, 1e-9)}, gap(-0.2)))
    for kind, count in (("good", 1), ("bad", 1), ("grey", 3)):
        assert len(re.findall(rf"fill {kind}['\"]", html)) == count


@pytest.mark.parametrize("has_features", [True, False])
def test_the_table_names_what_the_gain_is_measured_against(has_features: bool) -> None:
    html = probe_part(made_probe(gap(0.0, NO), has_features=has_features))
    assert ("own features" in html) == has_features
    assert ("guessing the largest class" in html) != has_features
    assert SOURCES["structure"] in html


def test_the_verdict_comes_with_all_its_reasons() -> None:
    found = diagnose(load("davis"), quick=True)
    html = verdict_part(found)
    assert f"class='verdict {found.verdict.kind}'" in html
    assert html.count("<li>") >= len(found.verdict.because)
    assert found.next.command in html
