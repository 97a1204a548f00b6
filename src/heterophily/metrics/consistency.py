"""The comparison of Definition 1 of the paper, with its ties decided on purpose."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heterophily.errors import InputError
from heterophily.metrics.class_means import ClassMeans

Consistency = Literal["consistent", "inconsistent"]

LABEL_TOLERANCE = 1e-10
"""Two means over one-hot labels closer than this are equal. A node whose closed neighbourhood is
balanced over the classes ties exactly, and rounding (below 1e-15) must not decide it; on the
paper's datasets the smallest true gap is 4e-7."""

FEATURE_TOLERANCE = 1e-12
"""The same for features, as a fraction of an upper bound of both means, so that it does not depend
on the unit of the features. True gaps of the paper's datasets are above 1e-9 of it."""


def is_consistent(
    means: ClassMeans,
    *,
    tolerance: float,
    ties: Consistency = "consistent",
    zero_rows: Consistency = "consistent",
) -> NDArray[np.bool_]:
    """Mask (N,): whether a node is at least as similar to its own class as to the rest.

    ``ties`` says what a node with equal means is; the paper's ``>=`` makes it consistent.
    ``zero_rows`` says the same of nodes whose filtered signal is zero, or cancels to zero, where
    both means are 0: the printed tables test the ratio of the means, and there 0/0 is inconsistent.
    Nodes that are not compared are False.
    """
    for name, value in (("ties", ties), ("zero_rows", zero_rows)):
        if value not in get_args(Consistency):
            raise InputError(f"{name}={value!r}; choose 'consistent' or 'inconsistent'")
    margin = tolerance * means.scale
    gap = means.own - means.other
    result = gap >= -margin if ties == "consistent" else gap > margin
    is_zero = (means.own == 0) & (means.other == 0) & (means.scale == 0)
    if means.is_zero is not None:
        is_zero |= means.is_zero
    result[is_zero] = zero_rows == "consistent"
    return np.asarray(result & means.is_compared)


def share(flags: NDArray[np.bool_], means: ClassMeans) -> float:
    """Return the share of the compared nodes that are flagged."""
    return float(np.count_nonzero(flags) / np.count_nonzero(means.is_compared))
