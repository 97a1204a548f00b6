import numpy as np
import pytest

from heterophily.evaluation.scores import expected_calibration_error
from heterophily.prediction.calibration import fit_temperature, helpful_temperature, tempered


def overconfident(seed, size=4000):
    """Draw labels from honest probabilities and show sharper ones."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet(np.ones(4), size)
    labels = (honest.cumsum(1) > rng.random((size, 1))).argmax(1)
    return labels, tempered(honest, 1 / 3)


def test_a_fitted_temperature_makes_overconfidence_honest_on_other_nodes():
    temperature = fit_temperature(*overconfident(0))
    assert temperature == pytest.approx(3.0, rel=0.1)
    labels, shown = overconfident(1)
    before = expected_calibration_error(labels, shown)
    after = expected_calibration_error(labels, tempered(shown, temperature))
    assert before > 0.15
    assert after < 0.03


def test_temperature_keeps_the_order_of_classes_and_sums_to_one():
    _, shown = overconfident(2)
    scaled = tempered(shown, 2.5)
    assert np.array_equal(scaled.argsort(1), shown.argsort(1))
    assert scaled.sum(1) == pytest.approx(np.ones(len(scaled)))
    assert tempered(shown, 1.0) is shown


def test_a_probability_of_zero_does_not_break_the_fit():
    temperature = fit_temperature(np.array([0, 1, 0]), np.array([[1.0, 0.0]] * 3))
    assert 1.0 < temperature <= 20.0


def test_a_temperature_is_used_only_where_it_clearly_helps():
    assert helpful_temperature(*overconfident(0)) == pytest.approx(3.0, rel=0.1)
    rng = np.random.default_rng(2)
    honest = rng.dirichlet(np.ones(4), 400)
    labels = (honest.cumsum(1) > rng.random((400, 1))).argmax(1)
    assert helpful_temperature(labels, honest) == 1.0
    assert helpful_temperature(*(part[:10] for part in overconfident(0))) == 1.0
