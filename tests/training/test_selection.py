"""The area under the ROC curve as the score that chooses an epoch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heterophily.errors import InputError
from heterophily.evaluation.scores import roc_auc
from heterophily.training.selection import check_selection, ranked_right


@pytest.mark.parametrize("classes", [2, 5])
def test_it_is_the_score_that_the_evaluation_prints(classes: int) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, classes, 200)
    logits = torch.from_numpy(rng.normal(size=(200, classes)))
    logits[:50] = logits[0]  # ties
    expected = roc_auc(labels, torch.softmax(logits, 1).numpy())
    assert ranked_right(labels, logits) == pytest.approx(expected, abs=1e-12)


def test_probabilities_that_round_to_one_still_rank_by_their_logits() -> None:
    logits = torch.tensor([[0.0, 200.0], [0.0, 100.0], [0.0, 300.0]])
    assert ranked_right(np.array([0, 0, 1]), logits) == 1.0


def test_validation_nodes_of_one_class_are_refused_in_one_sentence() -> None:
    check_selection("validation-loss", np.zeros(3, np.int64))
    with pytest.raises(InputError, match="one class only"):
        check_selection("validation-roc-auc", np.zeros(3, np.int64))
