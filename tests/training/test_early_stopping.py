import numpy as np
import pytest

from heterophily.training.early_stopping import STOPPING_RULES

FALLING = [10.0 - 0.01 * step for step in range(500)]


def first_stop(losses, name, window):
    rule = STOPPING_RULES[name]
    return next((n for n in range(1, len(losses) + 1) if rule(losses[:n], window)), None)


def test_loss_window_first_asks_in_epoch_202_for_a_window_of_200():
    assert first_stop([float(n) for n in range(500)], "loss-window", 200) == 202


def test_loss_window_compares_with_the_mean_of_the_epochs_before_the_last():
    losses = [*FALLING[:300], float(np.mean(FALLING[100:300]))]
    assert first_stop(losses, "loss-window", 200) is None  # equal to the mean is not above it
    losses[-1] += 1e-9
    assert first_stop(losses, "loss-window", 200) == 301


def test_patience_stops_when_the_lowest_loss_is_a_window_old():
    assert first_stop([5.0, 4.0, 4.5, 4.0, 4.2, 3.0], "patience", 3) == 5
    assert first_stop([5.0, 4.0, 4.5, 4.5, 3.9, 4.0, 4.0, 4.0], "patience", 3) == 8


@pytest.mark.parametrize("name", ["loss-window", "patience", "none"])
def test_falling_losses_never_stop(name):
    assert first_stop(FALLING, name, 50) is None


def test_none_never_stops():
    assert first_stop([float(n) for n in range(50)], "none", 1) is None
