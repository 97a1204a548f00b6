"""What a reader is told: whole sentences, with the numbers, in words of everyday English."""

from __future__ import annotations

import re

import pytest
from evidence import FAIR, NO, gap, made, made_chance

from heterophily.diagnosis.shuffle import Shuffled
from heterophily.diagnosis.verdict import KINDS, RULES, Evidence, judge
from heterophily.diagnosis.words import CONFIDENCE, WHY, interval, p_text, points

HELPS, LOSES, NONE = gap(0.123), gap(-0.2), gap(0.0, NO)
ALIKE, TELLS = made_chance(0.8, 0.5), made_chance(0.0, 0.05)

CASES = {
    "no edges": Evidence(has_edges=False),
    "no probe": Evidence(labelled=4),
    "homophilic": made(HELPS, HELPS, ALIKE),
    "homophilic, own features do": made(NONE, NONE, ALIKE),
    "harmful, the graph helps": made(HELPS, LOSES),
    "harmful, nothing helps": made(NONE, LOSES, TELLS),
    "harmless": made({"structure": HELPS, "labels": gap(0.05)}, NONE),
    "harmless, averaging gains": made(HELPS, gap(0.07)),
    "too few": made(gap(0.0, NO, 0.2), labelled=30),
    "little": made(NONE, NONE),
    "no features, homophilic": made(HELPS, chance=ALIKE, has_features=False),
    "no features, homophilic, nothing helps": made(NONE, chance=ALIKE, has_features=False),
    "no features, harmless": made({"structure": HELPS}, has_features=False),
    "no features, little": made(NONE, has_features=False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_verdict_is_one_sentence_with_its_confidence(name: str) -> None:
    verdict = judge(CASES[name])
    text = verdict.sentence
    assert text[0].isupper()
    assert text.endswith(".")
    assert ". " not in text
    if verdict.kind != "too-few":
        assert re.search(rf"\([^()]*confidence: {verdict.confidence}\)\.$", text)
        assert text.count("(") == 1
    assert verdict.confidence in CONFIDENCE
    assert len(text) < 330


@pytest.mark.parametrize("name", CASES)
def test_no_words_that_only_the_authors_know(name: str) -> None:
    verdict = judge(CASES[name])
    told = " ".join((verdict.sentence, *verdict.because, verdict.rule, WHY[verdict.kind]))
    assert not re.search(r"\b(low|high|mixed) (against|than|is|loses)\b|\bown\b(?! features)", told)
    assert not re.search(r"\b(nan|inf|None)\b|\+-|--|  ", told)


def test_every_kind_has_words_and_a_reason_for_the_next_command() -> None:
    assert set(WHY) == set(KINDS) == {judge(evidence).kind for evidence in CASES.values()}
    assert {rule.kind for rule in RULES} == set(WHY)


def test_sentences_tell_what_was_found() -> None:
    told = {name: judge(evidence).sentence for name, evidence in CASES.items()}
    assert told["harmful, the graph helps"] == (
        "Harmful heterophily: averaging over neighbours loses 20.0 points against a node's own "
        "features; kept apart from them, neighbours' labels add 12.3 points to a node's own "
        "features (confidence: high)."
    )
    assert "knowing which neighbours a node has adds 12.3 points" in told["harmless"]
    assert "averaging over neighbours gains 7.0" in told["harmless, averaging gains"]
    assert told["little"] == (
        "The graph adds little: nothing in it clearly adds to a node's own features (best: "
        "neighbours' labels, 0.0 points, 95 % interval -1.3 to +1.3; confidence: high)."
    )
    assert told["no edges"] == "The graph adds nothing: it has no edges (confidence: high)."
    assert "with 4 labelled nodes nothing can be measured" in told["no probe"]
    assert "about 100 labelled nodes would be enough" in told["no probe"]
    assert re.search(r"may add between -2\d and \+2\d points; about \d+ labelled", told["too few"])


def test_a_graph_without_features_is_compared_with_guessing() -> None:
    for name, evidence in CASES.items():
        verdict = judge(evidence)
        told = " ".join((verdict.sentence, *verdict.because))
        if name.startswith("no features"):
            assert "own features" not in told
            assert "guessing the largest class" in told


def test_every_number_a_rule_looks_at_is_told() -> None:
    evidence = made(
        gap(0.05, FAIR),
        gap(-0.2),
        made_chance(0.123, 0.456),
        predicted=Shuffled(0.5, 0.321, 0.01, 0.015),
    )
    told = " ".join(judge(evidence).because)
    for number in ("+5.0 points", "-20.0 points", "0.12", "0.456", "0.321", "p = 0.015", "5,000"):
        assert number in told


def test_numbers_are_written_for_readers() -> None:
    assert points(-0.0004) == "0.0 points"
    assert points(0.25) == "+25.0 points"
    assert p_text(0.0004) == "< 0.001"
    assert interval(gap(-0.1, half=0.02)) == "-10.0 points (95 % interval -12.0 to -8.0)"
