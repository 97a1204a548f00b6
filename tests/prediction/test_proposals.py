import math
from dataclasses import replace

import pytest

from heterophily.prediction.candidates import Candidate, draw
from heterophily.prediction.families import ACM, GCN, GLOBAL, MLP, STACK_GCN
from heterophily.prediction.proposals import NEAR, Proposals


def candidates(family, *settings):
    return [Candidate(family, {"lr": value}) for value in settings]


def tried(proposals, scores):
    """Try candidates until none is left; return them in order."""
    found = []
    while (candidate := proposals.next()) is not None:
        found.append(candidate)
        proposals.report(candidate, score=scores(candidate), seconds=1.0)
    return found


def test_every_candidate_is_proposed_once():
    waiting = {f: list(found) for f, found in draw([ACM, GCN, GLOBAL], seed=0).items()}
    found = tried(Proposals(waiting), lambda candidate: candidate.settings["dropout"] / 100)
    assert len(found) == len(set(found)) == sum(map(len, waiting.values()))


def test_the_best_setting_of_a_relative_is_tried_next():
    proposals = Proposals({ACM: candidates(ACM, 1, 2, 3, 4), GCN: candidates(GCN, 1, 3, 4, 2)})
    found = tried(proposals, lambda c: 0.9 if c.settings["lr"] == 2 else 0.895)
    order = [(c.model, c.settings["lr"]) for c in found]
    place = order.index(("acm-gcn", 2))
    assert order[place + 1] == ("gcn", 2)  # its last one, had nobody found it good


def test_settings_of_another_space_are_not_shared():
    proposals = Proposals({ACM: candidates(ACM, 1, 2), GLOBAL: candidates(GLOBAL, 1, 3, 2)})
    found = tried(proposals, lambda c: 0.9 if c.settings["lr"] == 2 else 0.895)
    assert [c.settings["lr"] for c in found if c.family is GLOBAL] == [1, 3, 2]


@pytest.mark.parametrize(
    ("given", "both", "kept"),
    [
        (0.80, 0.80, "both"),
        (0.80 + NEAR / 2, 0.80, "both"),
        (0.80 + 2 * NEAR, 0.80, "given"),
        (0.50, -math.inf, "given"),
        (-math.inf, -math.inf, "reversed"),
    ],
)
def test_a_model_keeps_one_direction_of_its_edges(given, both, kept):
    base = replace(ACM, options={"edge_direction": "both"})
    turns = {
        way: replace(ACM, options={"edge_direction": way}, turn_of=base)
        for way in ("given", "reversed")
    }
    families = [base, MLP, *turns.values()]
    proposals = Proposals({family: candidates(family, 1, 2, 3) for family in families})
    score = {base: both, MLP: 0.7, turns["given"]: given, turns["reversed"]: 0.3}
    found = tried(proposals, lambda candidate: score[candidate.family])
    assert [c.family for c in found[:4]] == families
    ways = [c.family.options["edge_direction"] for c in found[4:] if c.family is not MLP]
    assert ways == [kept, kept]
    assert sum(c.family is MLP for c in found) == 3


@pytest.mark.parametrize(("given", "tried_too"), [(0.9, True), (0.8, False)])
def test_other_families_follow_the_direction_of_the_best_scout(given, tried_too):
    base = replace(ACM, options={"edge_direction": "both"})
    turned = replace(ACM, options={"edge_direction": "given"}, turn_of=base)
    other = replace(STACK_GCN, options={"edge_direction": "both"})
    proposals = Proposals({f: candidates(f, 1, 2) for f in (base, other, turned)})
    found = tried(proposals, lambda c: given if c.family is turned else 0.8)
    followers = [c for c in found if c.family.turn_of is other]
    assert bool(followers) is tried_too
    assert all(c.family.options["edge_direction"] == "given" for c in followers)


def test_a_family_far_behind_gets_hardly_any_time():
    proposals = Proposals({ACM: candidates(ACM, *range(50)), GCN: candidates(GCN, *range(50))})
    found = tried(proposals, lambda c: 0.9 if c.family is ACM else 0.5)
    assert sum(c.family is GCN for c in found[:40]) == 1


def test_a_family_that_is_passed_over_counts_as_untried():
    proposals = Proposals({ACM: candidates(ACM, 1), GCN: candidates(GCN, 1)})
    proposals.report(proposals.next(), score=0.5, seconds=1.0)
    proposals.pass_over(proposals.next())
    assert proposals.next() is None
    assert proposals.untried == [GCN]


def test_strong_settings_are_tried_when_the_near_families_have_had_theirs():
    many = candidates(ACM, *range(len(ACM.portfolio.first) + 3))
    proposals = Proposals({ACM: many})
    for _ in ACM.portfolio.first:
        assert not proposals.strong_are_tried or proposals.is_first_round
        proposals.report(proposals.next(), score=0.5, seconds=1.0)
    assert proposals.strong_are_tried


def test_in_the_first_round_relatives_of_what_is_far_behind_come_last():
    order = [MLP, ACM, GCN, STACK_GCN]  # acm-gcn and gcn are of one kind
    proposals = Proposals({family: candidates(family, 1) for family in order})
    scores = {MLP: 0.9, ACM: 0.5, GCN: 0.5, STACK_GCN: 0.9}
    found = tried(proposals, lambda candidate: scores[candidate.family])
    assert [candidate.family for candidate in found] == [MLP, ACM, STACK_GCN, GCN]


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_whole_training_follows_where_the_short_one_was_cut_off(is_cut):
    short = Candidate(ACM, {"lr": 1, "max_epochs": 20})
    proposals = Proposals({ACM: [short, *candidates(ACM, 1, 2)]})
    proposals.report(proposals.next(), score=0.5, seconds=1.0, is_cut=is_cut)
    assert dict(proposals.next().settings) == {"lr": 1 if is_cut else 2}
