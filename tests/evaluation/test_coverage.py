"""Classes that a part lacks are named, with what follows and what to do."""

import numpy as np

from heterophily.data.splits import Split, SplitBatch, random_splits
from heterophily.evaluation.coverage import gap_remarks, gaps

RARE = np.repeat([0, 1], [1868, 105])


def test_stratified_splits_of_a_rare_class_have_no_gap_and_the_papers_do():
    splits = random_splits(RARE, repeats=3, seed=0)
    assert gaps(RARE, splits) == ()
    assert gap_remarks(RARE, splits, ("ok", "fraud"), "random") == ()
    papers = random_splits(RARE, repeats=3, seed=0, rule="paper-random")
    assert [(gap.class_number, gap.part, gap.splits) for gap in gaps(RARE, papers)] == [
        (1, "validation", 3),
        (1, "test", 3),
    ]
    validation, test = gap_remarks(RARE, papers, ("ok", "fraud"), "paper-random")
    assert "class 'fraud' (105 labelled) without test nodes in 3 of 3 splits" in test
    assert "no score tells how well it is found" in test
    assert test.endswith("use --splits random: they have every class in each part")
    assert "without validation nodes" in validation


def test_classes_of_one_or_two_nodes_are_named_once():
    labels = np.array([0] * 10 + [1] * 10 + [2, 2, 3])
    splits = random_splits(labels, repeats=2, seed=0)
    (remark,) = gap_remarks(labels, splits, ("a", "b", "c", "d"), "random")
    assert remark.startswith("2 classes have fewer than 3 labelled nodes")
    assert "'c' (2), 'd' (1)" in remark


def test_a_class_without_training_nodes_cannot_be_learnt_and_unlabelled_nodes_do_not_count():
    labels = np.array([0, 0, 0, 1, 1, 1, -1])
    split = Split.from_parts([0, 1], [2, 3], [4, 5], num_nodes=7)
    remarks = gap_remarks(labels, SplitBatch.stack([split]), ("a", "b"), "given")
    assert [text.split("without ")[1].split(" nodes")[0] for text in remarks] == [
        "training",
        "test",
    ]
    assert "class 'b' (3 labelled)" in remarks[0]
    assert "no model can learn it" in remarks[0]
