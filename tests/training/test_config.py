import math

import pytest

from heterophily.errors import HeterophilyError
from heterophily.training.config import DEEZER, PAPER, TrainConfig


def test_defaults_are_the_papers_protocol():
    assert (PAPER.optimizer, PAPER.max_epochs, PAPER.window) == ("adam", 5000, 200)
    assert (PAPER.stopping, PAPER.select_by) == ("loss-window", "validation-loss")


def test_deezer_trains_500_epochs_with_adamw_and_selects_by_accuracy():
    assert (DEEZER.optimizer, DEEZER.max_epochs, DEEZER.stopping) == ("adamw", 500, "none")
    assert DEEZER.select_by == "validation-accuracy"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lr": 0.0}, "lr=0.0; the learning rate is a positive number"),
        ({"lr": math.nan}, "lr=nan"),
        ({"lr": "0.1"}, "lr='0.1'"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0"),
        ({"coefficient_lr": 0.0}, "coefficient_lr=0.0"),
        ({"coefficient_weight_decay": -1.0}, "coefficient_weight_decay=-1.0"),
        ({"max_epochs": 0}, "max_epochs=0"),
        ({"window": 2.5}, "window=2.5"),
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'"),
        ({"stopping": "patent"}, "did you mean 'patience'"),
        ({"select_by": "test-accuracy"}, "unknown selection 'test-accuracy'"),
    ],
)
def test_bad_values_are_refused_with_their_name(changes, message):
    with pytest.raises(HeterophilyError, match=message.replace("(", r"\(")):
        TrainConfig(**changes)


def test_fields_that_are_not_used_are_no_part_of_a_stored_run():
    plain = TrainConfig().to_dict()
    assert not {"class_weight", "coefficient_lr", "coefficient_weight_decay"} & set(plain)
    own = TrainConfig(coefficient_weight_decay=0.0)
    assert own.to_dict() == {**plain, "coefficient_weight_decay": 0.0}
    assert own.has_groups
    assert not TrainConfig(class_weight="balanced").has_groups
