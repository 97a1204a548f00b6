import dataclasses
import itertools

import numpy as np
import pytest
from prediction.quick import QUICK, make_graph

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch, random_splits
from heterophily.errors import HeterophilyError, InputError
from heterophily.prediction import auto as module
from heterophily.prediction import members, search
from heterophily.prediction.auto import auto
from heterophily.prediction.auto_text import sentence
from heterophily.prediction.build import model_of
from heterophily.prediction.candidates import Candidate, uses_edges
from heterophily.prediction.families import ACM, MLP
from heterophily.prediction.trial import Trial
from heterophily.runs import job


def choice(result):
    return [(t.candidate.family.label, t.candidate.settings, t.scores) for t in result.trials], len(
        result.ensemble.members
    )


def test_shuffled_test_labels_change_the_estimate_and_nothing_else(graph, chosen):
    test = chosen.splits.test[0]
    shuffled = np.array(graph.labels)
    shuffled[test] = np.random.default_rng(1).permutation(shuffled[test])
    assert (shuffled != graph.labels).any()
    blind = auto(graph.replace(labels=shuffled), splits=chosen.splits, **QUICK)
    assert choice(blind) == choice(chosen)
    assert blind.verdict.to_dict() == chosen.verdict.to_dict()
    assert blind.temperature == chosen.temperature
    assert blind.estimate.scores != chosen.estimate.scores


def test_the_estimate_is_of_the_model_that_is_kept(graph, chosen):
    from heterophily.prediction.predict import predict

    model = model_of(chosen, rule="folds", seed=0)
    rows = np.flatnonzero(chosen.splits.test[0])
    found = predict(model, graph)
    assert np.mean(found.classes[rows] == graph.labels[rows]) == chosen.estimate.mean("accuracy")
    assert len(model.votes) == len(chosen.ensemble.members) >= 10  # five folds, two seeds


def test_with_test_sets_that_differ_each_is_judged_by_its_own_members(graph):
    splits = random_splits(graph.labels, repeats=3, seed=0)
    result = auto(graph, splits=splits, **{**QUICK, "max_trials": 2, "seeds": 1})
    values = result.estimate.scores["accuracy"]
    assert len(values) == 3
    assert result.to_dict()["test"]["accuracy"]["std"] == pytest.approx(np.std(values))
    for number, value in enumerate(values):
        mine = [m.probabilities for m in result.ensemble.members if m.split == number]
        rows = np.flatnonzero(splits[number].test)
        right = np.mean(mine, axis=0)[rows].argmax(1) == graph.labels[rows]
        assert value == pytest.approx(right.mean())


def test_ctrl_c_keeps_the_best_so_far(graph, monkeypatch):
    real, calls = job.train_run, []

    def train_run(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(job, "train_run", train_run)
    monkeypatch.setattr(search, "NODES_TO_JUDGE", 1)
    result = auto(graph, **QUICK)
    assert result.interrupted
    assert result.ensemble.members
    best = max(result.trials, key=lambda trial: (len(trial.scores), trial.mean))
    assert result.ensemble.trials == (best,)


def test_ctrl_c_before_anything_is_finished_is_passed_on(graph, monkeypatch):
    def train_run(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "train_run", train_run)
    with pytest.raises(KeyboardInterrupt):
        auto(graph, **QUICK)


def test_a_rare_class_is_scored_by_its_area():
    graph = make_graph(num_nodes=100)
    graph = graph.replace(labels=(np.arange(100) % 5 == 0).astype(int), class_names=("no", "yes"))
    result = auto(graph, **{**QUICK, "max_trials": 1, "seeds": 1})
    assert result.score == "roc-auc"
    assert result.to_dict()["test"]["roc-auc"]["mean"] == result.estimate.mean("roc-auc")


def test_class_weights_are_used(graph):
    how = {**QUICK, "max_trials": 1, "seeds": 1, "engine": "auto"}
    config = {"max_epochs": 3, "class_weight": "balanced"}
    result = auto(graph, families=["acm-gcn"], **{**how, "config": config})
    model = model_of(result, rule="folds", seed=0)
    assert model.networks[0].config["class_weight"] == "balanced"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minutes": 0}, "minutes=0; it must be above 0"),
        ({"score": "acuracy"}, "did you mean 'accuracy'"),
    ],
)
def test_bad_arguments_are_one_sentence(graph, changes, message):
    with pytest.raises(HeterophilyError, match=message):
        auto(graph, **{**QUICK, **changes})


def test_one_split_alone_is_enough(graph):
    splits = SplitBatch.stack([random_splits(graph.labels, repeats=1, seed=0)[0]])
    result = auto(graph, splits=splits, **{**QUICK, "max_trials": 2, "seeds": 2})
    assert {member.split for member in result.ensemble.members} == {0}


def test_every_candidate_diverging_is_one_sentence(graph, monkeypatch):
    monkeypatch.setattr(members.SplitTrainer, "train", lambda self, tasks: dict.fromkeys(tasks))
    with pytest.raises(InputError, match="every one diverged"):
        auto(graph, **QUICK)


def one_way_graph(num_nodes=90, seed=0):
    """A node has the class of the one it points to; who points to it says nothing."""
    rng = np.random.default_rng(seed)
    kind = np.arange(num_nodes) % 3
    hubs = np.flatnonzero(np.arange(num_nodes) < 6)
    target = np.array([rng.choice(hubs[kind[hubs] == k]) for k in kind])
    noise = rng.choice(np.arange(6, num_nodes), 2 * num_nodes)
    return Graph.from_edges(
        np.concatenate([np.arange(num_nodes), hubs[rng.integers(0, 6, 2 * num_nodes)]]),
        np.concatenate([target, noise]),
        labels=kind,
        features=np.eye(num_nodes)[:, :6] + 0.01 * rng.random((num_nodes, 6)),
        direction="keep",
    )


def test_a_directed_graph_is_tried_in_every_direction_and_the_useful_one_wins(tmp_path):
    from heterophily.prediction.folder import load_model, save_model
    from heterophily.prediction.predict import predict

    directed = one_way_graph()
    ticks = itertools.count()  # every look at the clock takes a moment: no family is forgotten
    result = auto(
        directed,
        inductive=True,
        families=["acm-gcn", "mlp-2"],
        **{
            **QUICK,
            "max_trials": 6,
            "seeds": 1,
            "config": {"max_epochs": 40},
            "clock": lambda: 1e-3 * next(ticks),
        },
    )
    best = result.finalists[0].candidate
    tried = {t.candidate.spec.inputs.edge_direction for t in result.trials}
    assert tried == {"given", "both", "reversed"}
    assert best.spec.inputs.edge_direction == "given"
    save_model(tmp_path / "model", model_of(result, rule="folds", seed=0))
    model = load_model(tmp_path / "model")
    rows = np.flatnonzero(result.splits.test[0])
    right = predict(model, directed).classes[rows] == directed.labels[rows]
    assert right.mean() == result.estimate.mean("accuracy")


def test_the_diagnosis_of_a_directed_graph_is_that_of_its_undirected_twin(graph, chosen):
    twin = graph.replace(is_directed=True)  # every edge in both directions
    found = auto(twin, **QUICK)
    assert found.verdict.to_dict() == chosen.verdict.to_dict()
    assert choice(found) == choice(chosen)  # nothing to turn round: the same candidates


def test_a_fold_without_the_rare_class_is_left_out_of_a_score_that_is_undefined_there():
    rng = np.random.default_rng(0)
    labels = np.array([0] * 45 + [1] * 5)  # four of the five are dealt out to five folds
    source, target = rng.integers(0, 50, (2, 120))
    rare = Graph.from_edges(source, target, labels=labels, features=rng.random((50, 3)))
    result = auto(rare, score="roc-auc", **QUICK)
    assert any(np.isnan(value) for value in result.finalists[0].scores.values())
    assert np.isfinite(result.finalists[0].mean)
    assert np.isfinite(result.choice.score)


def test_a_family_that_fails_is_named_and_the_others_go_on(graph, monkeypatch):
    real = job.train_run

    def train_run(*arguments, **options):
        if arguments[0].model == "trees":
            raise RuntimeError("no luck")
        return real(*arguments, **options)

    monkeypatch.setattr(job, "train_run", train_run)
    result = auto(graph, families=["trees", "mlp-2"], **QUICK)
    assert any(note == "trees could not be trained: RuntimeError: no luck" for note in result.notes)
    assert {trial.candidate.model for trial in result.choice.trials} == {"mlp-2"}


def test_an_unknown_family_is_one_sentence(graph):
    with pytest.raises(HeterophilyError, match="unknown family 'tres'; did you mean 'trees'"):
        auto(graph, families=["tres"], **QUICK)


def test_a_search_ends_when_every_validation_node_is_right():
    labels = np.arange(60) % 2
    easy = Graph.from_edges(
        [0], [1], labels=labels, features=np.eye(2)[labels] + 0.01 * np.arange(60)[:, None]
    )
    families = ["trees", "mlp-2", "gcn", "acm-gcn", "res-gcn", "gat-sep"]
    how = {**QUICK, "max_trials": None, "config": {"max_epochs": 60}, "engine": "auto"}
    result = auto(easy, families=families, **how)
    assert result.choice.score == 1.0
    assert len(result.trials) <= 6
    assert not any("not tried" in note for note in result.notes)


def test_scores_that_count_every_class_alike_train_so(graph):
    result = auto(graph, score="balanced-accuracy", families=["mlp-2"], **QUICK)
    assert result.config["class_weight"] == "balanced"


def test_without_time_for_a_model_of_the_graph_the_output_says_so_and_what_to_do(graph):
    result = auto(graph, **{**QUICK, "max_trials": 1, "seeds": 1})
    for family in (MLP, ACM):
        told = uses_edges(family)
        trial = Trial(Candidate(family, {}), scores={(0, 0): 0.5})
        text = sentence(dataclasses.replace(result, trials=(trial,)))
        assert ("No model that sees the graph was trained" in text) is not told
        assert ("--minutes" in text) is not told
    alone = auto(graph, families=["mlp-2"], **{**QUICK, "max_trials": 1, "seeds": 1})
    assert "No model that sees the graph was among the families" in sentence(alone)


@pytest.mark.parametrize(("minutes", "starts"), [(0.5, False), (1.0, False), (1.1, True)])
def test_a_short_search_starts_no_worker_process(graph, monkeypatch, minutes, starts):
    asked = []
    real = module.this_machine
    monkeypatch.setattr(module, "this_machine", lambda count: asked.append(count) or real(count))
    how = {**QUICK, "max_trials": 1, "seeds": 1, "minutes": minutes}
    auto(graph, families=["mlp-2"], **how)
    assert bool(asked) is starts


def test_a_direction_that_goes_with_the_labels_is_tried_first():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 240)  # senders point to hubs, hubs to receivers
    others = np.repeat(np.flatnonzero(labels < 2), 3)
    hubs = rng.choice(np.flatnonzero(labels == 2), others.size)
    sends = labels[others] == 0
    ends = np.where(sends, others, hubs), np.where(sends, hubs, others)
    directed = Graph.from_edges(*ends, labels=labels, direction="keep")
    result = auto(directed, **{**QUICK, "max_trials": 2, "seeds": 1})
    assert result.direction is not None
    assert result.direction.tells
    assert result.to_dict()["direction"]["tells"]
    ways = [f.options.get("edge_direction") for f in result.families[:3]]
    assert ways == ["both", "given", "reversed"]
