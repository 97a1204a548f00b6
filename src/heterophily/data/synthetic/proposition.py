"""Proposition 1: how far same-class similarity exceeds other-class similarity, in expectation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.errors import InputError


def similarity_gap(homophily: ArrayLike, *, degree: ArrayLike, classes: int) -> NDArray[np.float64]:
    r"""Return g(h) of Proposition 1 for d-regular graphs with C equally large classes.

    .. math:: g(h) = E[S(\hat A, Z)_{v,u_1}] - E[S(\hat A, Z)_{v,u_2}]
              = \left(\frac{(C-1)(hd+1) - (1-h)d}{(C-1)(d+1)}\right)^2

    with :math:`z_{u_1} = z_v \ne z_{u_2}`. Arrays broadcast.

    >>> float(similarity_gap(5 / 27, degree=54, classes=5))
    0.0
    """
    if classes < 2:
        raise InputError(f"classes={classes}; the proposition compares at least two classes")
    h, d = np.asarray(homophily, np.float64), np.asarray(degree, np.float64)
    gap = (classes - 1) * (h * d + 1) - (1 - h) * d
    return np.asarray((gap / ((classes - 1) * (d + 1))) ** 2)


def worst_homophily(*, intra_degree: float, classes: int) -> float:
    r"""Return where g(h) = 0 when every node keeps d_intra = hd intra-class neighbours.

    .. math:: h = \frac{d_\text{intra}}{C d_\text{intra} + C - 1}

    >>> worst_homophily(intra_degree=10, classes=5) == 5 / 27
    True
    """
    if classes < 2 or intra_degree <= 0:
        raise InputError(
            f"intra_degree={intra_degree}, classes={classes}; use a positive degree and at least "
            "two classes"
        )
    return intra_degree / (classes * intra_degree + classes - 1)
