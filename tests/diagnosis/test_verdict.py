"""Each rule fires on the numbers it names; every verdict is reachable; words follow p-values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterophily.diagnosis.probe import ChannelScore, Comparison, Probe
from heterophily.diagnosis.verdict import (
    CONFIDENCE,
    KINDS,
    METRIC_RULES,
    PROBE_RULES,
    Evidence,
    judge,
)

DOCS = Path(__file__).resolve().parents[2] / "docs" / "diagnosis.md"
SURE, FAIR, NO = 1e-4, 0.03, 0.6


def probe(low: tuple[float, float], mixed: tuple[float, float] | None) -> Probe:
    score = ChannelScore((0.5, 0.6))
    names = ["own", "low"] if mixed is None else ["own", "low", "high", "mixed"]
    comparisons = {"low_against_own": Comparison(*low)}
    if mixed is not None:
        comparisons["mixed_against_own"] = Comparison(*mixed)
        comparisons["mixed_against_low"] = Comparison(mixed[0] - low[0], SURE)
    return Probe(dict.fromkeys(names, score), comparisons, 5, 3, 100, 10)


def metrics(adjusted: float | None, informative: float = 0.0, aggregated: float = 0.5):
    return {
        "edge_homophily": 0.5,
        "adjusted_homophily": adjusted,
        "label_informativeness": informative,
        "modified_aggregation_homophily": aggregated,
    }


@pytest.mark.parametrize(
    ("low", "mixed", "adjusted", "informative", "kind", "confidence"),
    [
        ((0.1, SURE), (0.1, SURE), 0.8, 0.5, "homophilic", "clear"),
        ((0.1, NO), (0.1, FAIR), 0.8, 0.5, "homophilic", "likely"),
        ((0.0, NO), (0.0, NO), 0.8, 0.5, "homophilic", "weak"),
        ((0.1, SURE), (0.1, SURE), 0.0, 0.0, "harmless", "clear"),
        ((0.02, NO), (0.1, FAIR), 0.0, 0.0, "harmless", "likely"),
        ((-0.2, SURE), (0.1, SURE), 0.0, 0.0, "harmful", "clear"),
        ((-0.2, SURE), (0.1, SURE), 0.4, 0.2, "harmful", "clear"),
        ((-0.2, SURE), (0.1, FAIR), 0.0, 0.0, "harmful", "likely"),
        ((-0.2, SURE), (0.0, NO), 0.0, 0.1, "harmful", "likely"),
        ((-0.2, SURE), (0.0, NO), 0.0, 0.001, "little", "likely"),
        ((-0.2, SURE), (-0.1, SURE), 0.0, 0.1, "little", "likely"),
        ((-0.01, NO), (0.01, NO), 0.0, 0.1, "little", "weak"),
    ],
)
def test_rules_with_a_probe(low, mixed, adjusted, informative, kind, confidence) -> None:
    verdict = judge(Evidence(metrics(adjusted, informative), probe=probe(low, mixed)))
    assert (verdict.kind, verdict.confidence) == (kind, confidence)


@pytest.mark.parametrize(
    ("low", "adjusted", "kind"),
    [((0.4, SURE), -1.0, "harmless"), ((0.4, SURE), 0.7, "homophilic"), ((0.0, NO), 0, "little")],
)
def test_a_graph_without_features_is_judged_by_its_edges(low, adjusted, kind) -> None:
    assert judge(Evidence(metrics(adjusted, 0.5), probe=probe(low, None))).kind == kind


@pytest.mark.parametrize(
    ("adjusted", "informative", "aggregated", "scaled", "kind"),
    [
        (0.8, 0.5, 0.9, (0.5, 0.9), "homophilic"),
        (0.0, 0.0, 0.3, (0.8, 0.7), "harmless"),
        (-1.0, 1.0, 1.0, (None, None), "harmless"),
        (-1.0, 1.0, 1.0, (0.5, 0.9), "harmful"),
        (0.0, 0.1, 0.3, (0.5, 0.9), "harmful"),
        (0.0, 0.001, 0.3, (0.5, 0.9), "little"),
        (0.0, 0.001, 0.3, (None, None), "little"),
    ],
)
def test_rules_without_a_probe(adjusted, informative, aggregated, scaled, kind) -> None:
    verdict = judge(
        Evidence(metrics(adjusted, informative, aggregated), True, None, scaled[0], scaled[1])
    )
    assert (verdict.kind, verdict.confidence) == (kind, "tentative")


def test_a_graph_without_edges_adds_little_for_certain() -> None:
    verdict = judge(Evidence({}, has_edges=False))
    assert (verdict.kind, verdict.confidence) == ("little", "certain")
    assert verdict.because == ("there is no edge",)


def test_edges_within_one_class_only_are_homophilic() -> None:
    """Adjusted homophily is undefined there, as there is nothing to compare with."""
    assert judge(Evidence({"adjusted_homophily": None, "edge_homophily": 1.0})).kind == "homophilic"


def test_every_number_a_rule_uses_is_told() -> None:
    told = " ".join(
        judge(Evidence(metrics(0.123, 0.456), probe=probe((-0.2, SURE), (0.05, FAIR)))).because
    )
    for number in ("0.12", "0.456", "-20.0 points (p < 0.001)", "+5.0 points (p = 0.030)"):
        assert number in told


def test_every_kind_has_a_rule_and_every_rule_a_kind() -> None:
    assert {rule.kind for rule in PROBE_RULES} == {rule.kind for rule in METRIC_RULES} == set(KINDS)


def test_a_sentence_is_one_sentence_with_its_confidence() -> None:
    for adjusted in (0.8, 0.0):
        sentence = judge(Evidence(metrics(adjusted))).sentence
        assert sentence.endswith(f"({CONFIDENCE['tentative']}).")
        assert sentence.count(". ") == 0


def test_the_page_on_diagnosis_lists_the_rules_of_the_code_in_order() -> None:
    text = re.sub(r"\s+", " ", DOCS.read_text("utf-8"))
    for rules in (PROBE_RULES, METRIC_RULES):
        places = [text.find(f"| {rule.text} | {rule.kind} |") for rule in rules]
        assert -1 not in places, [r.text for r, p in zip(rules, places, strict=True) if p < 0]
    for name, meaning in CONFIDENCE.items():
        assert f"**{name}**" in text
        assert meaning.partition(": ")[2] in text
