"""Temperature scaling: one number, fitted on validation nodes, that makes confidence honest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

_TINY = 1e-12
_FEWEST = 20  # nodes of a half: fewer cannot tell
_LOG_RANGE = (np.log(0.05), np.log(20.0))


def tempered(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    r"""Return :math:`p^{1/T}`, rows summing to 1: softmax of logits over T (Guo et al. 2017).

    T above 1 makes predictions less confident; the most probable class stays.

    >>> tempered(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.667, 0.333]])
    """
    if temperature == 1.0:
        return probabilities
    logits = np.log(np.maximum(probabilities, _TINY)) / temperature
    logits -= logits.max(1, keepdims=True)
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum(1, keepdims=True))


def fit_temperature(labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return the T in [0.05, 20] with the lowest mean negative log likelihood on these nodes.

    >>> sure = np.tile([0.99, 0.01], (4, 1))  # right three times out of four
    >>> round(fit_temperature(np.array([0, 0, 0, 1]), sure), 1)
    4.2
    """
    rows = np.arange(labels.size)

    def loss(log_temperature: float) -> float:
        likelihood = tempered(probabilities, float(np.exp(log_temperature)))[rows, labels]
        return float(-np.log(np.maximum(likelihood, _TINY)).mean())

    best = minimize_scalar(loss, bounds=_LOG_RANGE, method="bounded")
    return float(np.exp(best.x))


def helpful_temperature(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], *, seed: int = 0
) -> float:
    """Return the fitted temperature where it clearly helps on nodes it was not fitted on, else 1.

    Nodes are dealt into two halves, each is judged with the temperature of the other. It is used
    when the mean gain in log likelihood is more than two standard errors above 0.

    >>> rng = np.random.default_rng(0)
    >>> honest = np.tile([0.75, 0.25], (400, 1))
    >>> helpful_temperature((rng.random(400) < 0.25).astype(int), honest)
    1.0
    """
    if labels.size < 2 * _FEWEST:
        return 1.0
    half = np.random.default_rng(seed).permutation(labels.size) % 2
    gains = np.zeros(labels.size)
    for number in range(2):
        there, here = half != number, half == number
        temperature = fit_temperature(labels[there], probabilities[there])
        before = probabilities[here]
        rows, truth = np.arange(before.shape[0]), labels[here]
        after = tempered(before, temperature)
        gains[here] = np.log(np.maximum(after[rows, truth], _TINY)) - np.log(
            np.maximum(before[rows, truth], _TINY)
        )
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    return fit_temperature(labels, probabilities) if gains.mean() > 2.0 * error else 1.0
