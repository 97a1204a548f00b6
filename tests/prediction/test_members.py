import numpy as np

from heterophily.prediction.candidates import Candidate
from heterophily.prediction.families import ACM
from heterophily.prediction.folds import held_out_folds
from heterophily.prediction.members import SplitTrainer


def test_a_member_is_the_same_alone_and_beside_others(graph):
    splits = held_out_folds(graph.labels, seed=0)
    options = {"workers": 1, "engine": "torch", "config": {"max_epochs": 4}}
    first, second = Candidate(ACM, {"lr": 0.05}), Candidate(ACM, {"lr": 0.01})
    alone = SplitTrainer(graph, splits, **options).train([(first, 1, 0)])
    tasks = [(second, 0, 0), (first, 1, 0), (first, 1, 1)]
    beside = SplitTrainer(graph, splits, **options).train(tasks)
    ours, theirs, reseeded = alone[first, 1, 0], beside[first, 1, 0], beside[first, 1, 1]
    assert np.array_equal(ours.probabilities, theirs.probabilities)
    assert not np.array_equal(ours.probabilities, reseeded.probabilities)
