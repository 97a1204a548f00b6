"""Each rule fires on the numbers it names; a verdict is as sure as the least sure of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from evidence import FAIR, NO, SURE, gap, made, made_chance, made_probe

from heterophily.diagnosis.shuffle import Shuffled
from heterophily.diagnosis.verdict import (
    FIRST_MODEL,
    KINDS,
    RULES,
    TOO_FEW,
    Evidence,
    helpful_sources,
    judge,
    labels_needed,
)
from heterophily.models.catalog import MODELS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "diagnosis.md"
HELPS, LOSES, NONE = gap(0.10), gap(-0.20), gap(0.0, NO)
ALIKE, TELLS, NOTHING = made_chance(0.8, 0.5), made_chance(0.0, 0.05), made_chance()


def rule_of(evidence: Evidence) -> int:
    """Return which rule of the table gave the verdict."""
    return [rule.text for rule in RULES].index(judge(evidence).rule)


@pytest.mark.parametrize(
    ("evidence", "number", "kind", "confidence"),
    [
        (Evidence(has_edges=False), 0, "little", "high"),
        (Evidence(labelled=4), 1, TOO_FEW, "high"),
        (made(HELPS, HELPS, ALIKE), 2, "homophilic", "high"),
        (made(NONE, NONE, ALIKE), 2, "homophilic", "high"),
        (made(HELPS, LOSES, NOTHING), 3, "harmful", "high"),
        (made(HELPS, LOSES, ALIKE), 3, "harmful", "high"),
        (made(HELPS, HELPS, NOTHING), 4, "harmless", "high"),
        (made(HELPS, NONE, TELLS), 4, "harmless", "high"),
        (made(NONE, LOSES, TELLS), 5, "harmful", "high"),
        (made(gap(0.02, NO, 0.15), NONE, NOTHING), 6, TOO_FEW, "high"),
        (made(NONE, LOSES, made_chance(spread=0.2)), 7, TOO_FEW, "high"),
        (made(NONE, LOSES, NOTHING), 8, "little", "high"),
        (made(NONE, NONE, TELLS), 8, "little", "high"),
    ],
)
def test_each_rule_fires_on_the_numbers_it_names(evidence, number, kind, confidence) -> None:
    verdict = judge(evidence)
    assert (rule_of(evidence), verdict.kind, verdict.confidence) == (number, kind, confidence)


def test_every_rule_and_every_kind_is_reachable_above() -> None:
    assert {rule.kind for rule in RULES} == set(KINDS)
    assert RULES[-1].holds(Evidence())


# --- size and significance ------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_significance_without_size_never_decides(sign: int) -> None:
    """T6: a million nodes and edges that are pure noise; 0.2 points with p = 1e-9."""
    tiny = gap(sign * 0.002, 1e-9, 0.0005)
    found = judge(made(tiny, tiny, NOTHING, labelled=1_000_000))
    assert (found.kind, found.confidence) == ("little", "high")


def test_size_without_significance_never_decides() -> None:
    assert judge(made(gap(0.08, NO, 0.2), gap(-0.08, NO, 0.2), NOTHING)).kind == TOO_FEW


def test_the_best_of_four_sources_needs_a_smaller_p_value() -> None:
    assert judge(made(gap(0.05, 0.02), NONE, NOTHING)).kind == "little"
    assert judge(made(gap(0.05, 0.012), NONE, NOTHING)).kind == "harmless"


def test_own_features_that_are_nearly_always_right_leave_nothing_to_add() -> None:
    """98 % of 400 nodes: however wide the interval, at most 2 points and 3 / 400 are left."""
    wide = made(gap(0.0, NO, 0.2), NONE, NOTHING)
    sure = replace(wide, probe=replace(wide.probe, own_score=0.98))
    assert judge(wide).kind == TOO_FEW
    assert judge(sure).kind == "little"
    assert sure.most_added == pytest.approx(0.02 + 3 / 400)
    few = replace(wide, probe=replace(wide.probe, own_score=1.0, nodes=20))
    assert judge(few).kind == TOO_FEW  # none of 20 wrong: up to 15 % may be


def test_homophily_from_a_handful_of_edges_is_not_believed() -> None:
    by_chance = made_chance(0.5, 0.3, p_homophily=0.2, error=0.3)
    assert judge(made(HELPS, HELPS, by_chance)).kind == "harmless"
    unsure = made_chance(0.4, 0.3, error=0.15)
    assert judge(made(NONE, NONE, unsure)).kind != "homophilic"
    assert judge(made(HELPS, HELPS, unsure)).kind == "homophilic"  # averaging agrees


def test_informativeness_beyond_chance_needs_size_and_significance() -> None:
    for told in (made_chance(0, 0.009), made_chance(0, 0.05, p_tells=0.2)):
        assert not Evidence(chance=told).is_informative
    assert Evidence(chance=TELLS).is_informative


def test_classes_predicted_for_neighbours_stand_in_for_few_labels() -> None:
    """Labelled edges are too few to tell; edges to predicted classes are many."""
    unknown = made_chance(spread=0.2, edges=6)
    assert judge(made(NONE, LOSES, unknown)).kind == TOO_FEW
    told = Shuffled(0.1, 0.08, 0.004, 0.005)
    assert judge(made(NONE, LOSES, unknown, predicted=told)).kind == "harmful"
    silent = Shuffled(0.01, 0.001, 0.004, 0.4)
    assert judge(made(NONE, LOSES, unknown, predicted=silent)).kind == "little"


def test_without_labelled_edges_nothing_is_said_of_homophily() -> None:
    evidence = replace(made(HELPS, HELPS), chance=None)
    assert not evidence.is_homophilic
    assert judge(evidence).kind == "harmless"


def test_without_features_the_graph_is_judged_by_what_it_adds_to_guessing() -> None:
    assert judge(made(HELPS, chance=NOTHING, has_features=False)).kind == "harmless"
    assert judge(made(HELPS, chance=ALIKE, has_features=False)).kind == "homophilic"
    assert judge(made(NONE, chance=NOTHING, has_features=False)).kind == "little"


# --- confidence -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "kind", "confidence"),
    [
        (made(gap(0.1, 0.002), LOSES, NOTHING), "harmful", "medium"),
        (made(gap(0.1, 0.01), LOSES, NOTHING), "harmful", "low"),
        (made(HELPS, gap(-0.1, 0.03), NOTHING), "harmful", "low"),
        (made(HELPS, gap(0.0, NO, 0.04), NOTHING), "harmless", "medium"),
        (made(HELPS, gap(0.0, NO, 0.08), NOTHING), "harmless", "low"),
        (made(HELPS, NONE, made_chance(0.275, 0.1)), "harmless", "medium"),
        (made(HELPS, HELPS, made_chance(0.31, 0.1)), "homophilic", "low"),
        (made(gap(0.0, NO, 0.03), NONE, NOTHING), "little", "medium"),
        (made(gap(0.0, NO, 0.06), NONE, NOTHING), "little", "low"),
        (made(NONE, NONE, made_chance(spread=0.02)), "little", "medium"),
    ],
)
def test_a_verdict_is_as_sure_as_the_least_sure_of_its_numbers(evidence, kind, confidence) -> None:
    verdict = judge(evidence)
    assert (verdict.kind, verdict.confidence) == (kind, confidence)


def test_smaller_p_values_and_narrower_limits_are_never_less_sure() -> None:
    order = ["low", "medium", "high"]
    by_p = [order.index(judge(made(gap(0.1, p), LOSES)).confidence) for p in (0.01, 0.002, SURE)]
    by_width = [
        order.index(judge(made(gap(0.0, NO, half), NONE)).confidence) for half in (0.06, 0.03, 0.01)
    ]
    assert by_p == sorted(by_p)
    assert by_width == sorted(by_width)


# --- sources, labels, models ----------------------------------------------------------------------


def test_helpful_sources_are_in_the_order_of_their_gains() -> None:
    probe = made_probe({"neighbours": gap(0.03), "labels": gap(0.1), "all": gap(0.12)})
    assert helpful_sources(probe) == ("labels", "neighbours")
    assert helpful_sources(made_probe({"all": gap(0.12)})) == ("all",)
    assert helpful_sources(made_probe(NONE)) == ()
    assert helpful_sources(None) == ()


def test_labels_needed_halve_the_interval_with_four_times_the_labels() -> None:
    wide = made(gap(0.0, NO, 0.2), labelled=50)
    reach = wide.probe.gain.high
    assert labels_needed(wide) == pytest.approx(50 * (reach / 0.05) ** 2, rel=0.1)
    assert labels_needed(replace(wide, labelled=100)) == pytest.approx(
        2 * labels_needed(wide), rel=0.1
    )


def test_labels_needed_are_always_more_than_there_are() -> None:
    assert labels_needed(Evidence(labelled=4)) == 100
    assert labels_needed(Evidence(labelled=500)) == 1000  # nearly all of one class
    assert labels_needed(made(gap(0.0, NO, 0.001), labelled=777)) == 1600
    assert judge(made(HELPS)).labels_needed is None


def test_every_model_to_begin_with_exists() -> None:
    assert set(FIRST_MODEL.values()) | {"acm-gcn"} <= set(MODELS)
    assert judge(made(NONE)).model == "mlp-2"
    assert judge(made(HELPS, HELPS, ALIKE)).model == "gcn"
    assert judge(made({"structure": HELPS}, LOSES)).model == "acm-gcn+"
    assert judge(made({"neighbours": HELPS}, LOSES)).model == "acm-gcn"


def test_a_verdict_as_data_has_everything_a_reader_is_told() -> None:
    found = judge(made(HELPS, gap(-0.2, FAIR))).to_dict()
    assert list(found) == [
        "kind", "sentence", "confidence", "rule", "because", "helpful", "labels_needed",
    ]  # fmt: skip


# --- documentation --------------------------------------------------------------------------------


def test_the_page_on_diagnosis_lists_the_rules_of_the_code_in_order() -> None:
    rows = re.findall(r"^\| (.+?) \| (\S+) \|$", DOCS.read_text("utf-8"), flags=re.MULTILINE)
    listed = [row for row in rows if row[1] in KINDS]
    assert listed == [(rule.text, rule.kind) for rule in RULES]


def test_linear_classifiers_alone_are_never_of_high_confidence() -> None:
    sure = Evidence(True, 400, made_probe(gap(0.3, SURE)), made_chance())
    quick = Evidence(True, 400, made_probe(gap(0.3, SURE), tree_nodes=0), made_chance())
    assert (judge(sure).confidence, judge(quick).confidence) == ("high", "medium")
