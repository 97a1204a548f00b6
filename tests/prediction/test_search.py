import itertools
import math

import numpy as np
from prediction.pretend import PretendTrainer, candidates, make

from heterophily.evaluation.scores import accuracy
from heterophily.prediction import search as module
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.families import ACM, GCN, MLP
from heterophily.prediction.proposals import NEAR
from heterophily.prediction.search import Search
from heterophily.prediction.trial import Clock, Trial, leader_of, leaders_first, ranked


def test_the_best_candidates_are_trained_on_every_split_and_the_others_are_not(monkeypatch):
    monkeypatch.setattr(module, "NODES_TO_LOOK", 1)
    monkeypatch.setattr(module, "NODES_TO_JUDGE", 1)
    search = make()
    assert search.rungs() == [1, 1, 3, 5]
    skills = [0.2, 0.9, 0.3, 1.0, 0.25, 0.8, *np.linspace(0.1, 0.2, 12)]
    finalists = search.run(candidates(*skills))
    assert [trial.candidate.settings["skill"] for trial in finalists[:3]] == [1.0, 0.9, 0.8]
    assert all(trial.splits == 5 for trial in finalists)
    losers = [trial for trial in search.trials if trial not in finalists]
    assert losers
    assert all(trial.splits < 5 and not trial.members for trial in losers)


def test_candidates_of_a_small_graph_are_judged_on_more_splits(monkeypatch):
    search = make()  # validation sets of about ten nodes
    assert search.rungs() == [5, 5, 5, 5]
    monkeypatch.setattr(module, "NODES_TO_JUDGE", 35)
    monkeypatch.setattr(module, "NODES_TO_LOOK", 15)
    assert search.rungs() == [2, 4, 4, 5]
    finalists = search.run(candidates(*np.linspace(0.1, 1.0, 30)))
    assert len(finalists) < 30 / module.KEEP + 1


def test_time_that_is_up_at_once_still_leaves_one_finalist_on_every_split_if_that_is_short():
    search = make(seconds=0.001, ticks=itertools.count())
    finalists = search.run(candidates(0.5, 0.9))
    assert len(search.trials) == 1
    assert len(finalists) == 1
    assert finalists[0].splits == 5


def test_rivals_are_trained_on_as_many_splits_as_the_leader_after_a_long_first_round():
    """Otherwise whoever was lucky on the first splits wins, alone on all of them."""
    search = make(seconds=100.0)
    search.clock.now = lambda: search.clock.start + 65.0  # more than the first round may take
    lucky, rival = (Trial(Candidate(family, {"skill": 0.9})) for family in (ACM, GCN))
    search.train([(trial, split, 0) for trial in (lucky, rival) for split in range(3)], until=1.0)
    search._judge([lucky, rival], 3, 5)
    assert {lucky.splits, rival.splits} == {3, 5}
    search._judge([lucky, rival], 3, 5, until=module.SHARES[2])
    assert lucky.splits == rival.splits == 5


def test_a_leader_without_time_for_every_split_is_not_replaced_by_a_quick_bad_one():
    search = make(seconds=100.0)
    good, bad = Trial(Candidate(ACM, {"skill": 0.95})), Trial(Candidate(MLP, {"skill": 0.3}))
    search.train([(good, 0, 0), *((bad, split, 0) for split in range(3))], until=1.0)
    assert leader_of([bad, good], NEAR) is good
    assert search._beside_leader([bad, good]) == [good]
    near = Trial(Candidate(GCN, {}), scores={(0, 0): bad.scores[0, 0] + NEAR / 2})
    assert leader_of([near, bad], NEAR) is bad  # more splits count where the rest may be chance


def test_when_there_is_no_time_for_the_leader_there_is_none_for_others():
    search = make(seconds=100.0)
    leader, rival = Trial(Candidate(ACM, {"skill": 0.9})), Trial(Candidate(MLP, {"skill": 0.88}))
    search.train([(trial, 0, 0) for trial in (leader, rival)], until=1.0)
    search.seconds = lambda candidate: 1e3 if candidate.family is ACM else 0.1
    search._judge([leader, rival], 1, 3)
    assert (leader.splits, rival.splits) == (1, 1)


def test_a_leader_that_was_cut_off_is_trained_for_longer():
    search = make(seconds=100.0)
    cut = Trial(Candidate(ACM, {"skill": 0.9, "max_epochs": 1}))  # members have one epoch
    done = Trial(Candidate(GCN, {"skill": 0.9, "max_epochs": 2}))
    far = Trial(Candidate(MLP, {"skill": 0.1, "max_epochs": 1}))
    search.trials = [cut, done, far]
    search.train([(trial, 0, 0) for trial in search.trials], until=1.0)
    (longer,) = search._longer(search.trials[:], 1)
    assert longer.candidate.family is ACM
    assert dict(longer.candidate.settings) == {"skill": 0.9}
    assert longer.splits == 1
    assert not search._longer(search.trials, 1)  # it was tried


def test_the_first_round_leaves_time_to_train_the_leader_twice_on_every_split():
    search = make(seconds=100.0)  # five splits, one worker
    assert search._ends_first_round() == 0.75
    leader = Trial(Candidate(ACM, {"skill": 0.9, "max_epochs": 1}))
    search.trials = [leader]
    search.train([(leader, 0, 0)], until=1.0)  # it was cut off
    for whole, share in ((1.0, 0.75), (4.0, 0.6), (9.0, 0.5)):
        search.seconds = lambda c, whole=whole: whole if "max_epochs" not in c.settings else 0.1
        assert search._ends_first_round() == share


def test_a_longer_training_fits_into_half_of_the_time_that_is_left():
    search = make(seconds=100.0)
    short = Candidate(ACM, {"skill": 0.9, "max_epochs": 20})
    search.seconds = lambda candidate: candidate.settings.get("max_epochs", 200) / 2.5
    assert search._lengthened(short, 1).settings["max_epochs"] == 100
    assert search._lengthened(short, 2).settings["max_epochs"] == 60
    assert search._lengthened(short, 4) is None


def drawn(price, skill):
    """Return how many candidates of each family are drawn in 100 seconds."""
    search = make(seconds=100.0)
    now = [0.0]
    search.clock.now = lambda: now[0]
    train = search.trainer.train

    def slow(tasks):
        now[0] += sum(price[candidate.family] for candidate, _, _ in tasks) / len(tasks)
        return train(tasks)

    search.trainer.train = slow
    search.run({f: iter([Candidate(f, {"skill": skill[f]})] * 200) for f in price})
    return {f: sum(t.candidate.family is f for t in search.trials) for f in price}


def test_families_get_the_same_time_not_the_same_number_of_candidates():
    counts = drawn({ACM: 1.0, GCN: 4.0}, {ACM: 1.0, GCN: 1.0})
    assert counts[ACM] > 3 * counts[GCN] > 0


def test_a_family_far_from_the_leader_gets_less_time():
    counts = drawn({ACM: 1.0, GCN: 1.0}, {ACM: 1.0, GCN: 0.5})
    assert counts[ACM] > 3 * counts[GCN] > 0


def test_the_leaders_of_near_families_are_trained_on_more_splits_first():
    first, second = (Trial(Candidate(ACM, {}), scores={(0, 0): 0.9 - p / 1e3}) for p in range(2))
    near = Trial(Candidate(GCN, {}), scores={(0, 0): 0.885})
    far = Trial(Candidate(MLP, {}), scores={(0, 0): 0.8})
    assert leaders_first([first, second, near, far], NEAR) == [first, near, second, far]


def test_the_best_of_a_family_survives_beside_many_of_a_slightly_better_one(monkeypatch):
    monkeypatch.setattr(module, "MIN_KEPT", 1)
    good = [Trial(Candidate(ACM, {}), scores={(0, 0): 0.90 + place / 1e4}) for place in range(9)]
    near, far = (
        Trial(Candidate(GCN, {}), scores={(0, 0): 0.885}),
        Trial(Candidate(MLP, {}), scores={(0, 0): 0.8}),
    )
    second = Trial(Candidate(GCN, {}), scores={(0, 0): 0.884})
    search = make()
    search.margin = NEAR
    kept = search._survivors([near, second, far, *good], count=2)
    assert kept == [good[8], good[7], near]


def test_a_candidate_that_diverges_is_out():
    search = make()
    finalists = search.run(candidates(None, 0.5))
    assert [trial.candidate.settings["skill"] for trial in finalists] == [0.5]
    assert search.trials[0].mean == -math.inf


def test_no_more_parameters_are_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(module, "MAX_KEPT", 6)
    search = make()
    most = 0
    take = search._take

    def counted(*arguments):
        nonlocal most
        take(*arguments)
        most = max(most, sum(bool(trial.members) for trial in search.trials))

    search._take = counted
    search.run(candidates(*np.linspace(0, 1, 40)))
    assert most <= 7


def test_seeds_are_added_in_turns_until_time_is_up():
    search = make()
    finalists = search.run(candidates(0.9, 0.8))
    search.add_seeds(finalists, seeds=3)
    assert all(len(trial.members) == 15 for trial in finalists)
    seeds = [seed for _, _, seed in search.trainer.tasks if seed]
    assert seeds == sorted(seeds)


def test_a_trial_does_not_know_a_test_score():
    assert not any("test" in name for name in Trial.__dataclass_fields__)


def test_a_lucky_first_seed_does_not_rank_a_finalist_once_others_have_more_seeds():
    lucky, steady, once = Trial(None), Trial(None), Trial(None)
    lucky.scores = {(0, 0): 1.0, (0, 1): 0.2}
    steady.scores = {(0, 0): 0.8, (0, 1): 0.8}
    once.scores = {(0, 0): 0.9}
    assert ranked([lucky, once, steady]) == [steady, lucky, once]
    assert (steady.splits, steady.mean) == (1, 0.8)


def test_long_trainings_come_one_by_one_and_short_ones_together():
    sizes = {}
    for price in (0.1, 2.0, 100.0):
        search = make(seconds=1e9)
        now, asked, train = [0.0], [], search.trainer.train

        def slow(tasks, price=price, now=now, asked=asked, train=train):
            now[0] += price * len(tasks)
            asked.append(len(tasks))
            return train(tasks)

        search.trainer.train, search.clock.now = slow, lambda now=now: now[0]
        finalists = search.run(candidates(0.9))
        search.add_seeds(finalists, seeds=4)
        assert sum(asked) == 20
        sizes[price] = max(asked)
    assert sizes == {0.1: 5, 2.0: 2, 100.0: 1}


def test_no_worker_is_without_a_training_however_long_it_takes():
    splits, now, asked = make().trainer.splits, [0.0], []
    search = Search(PretendTrainer(splits, workers=3), accuracy, Clock(1e9, lambda: now[0]))
    train = search.trainer.train

    def slow(tasks):
        now[0] += 1000.0
        asked.append(len(tasks))
        return train(tasks)

    search.trainer.train = slow
    search.run(candidates(0.9))
    assert asked == [3, 2]


def test_a_seed_that_diverges_is_left_out_and_its_finalist_stays():
    search = make()
    finalists = search.run(candidates(0.9))
    search._take(finalists[0], 0, 1, None)
    assert finalists[0].mean > 0.5
    assert (0, 1) not in finalists[0].members
