"""Operators that follow from A: neighbours at distance one and two."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from heterophily.filters.normalization import normalized_adjacency
from heterophily.layers.derived import derived
from heterophily.layers.propagation import Propagation


def pattern_of(operator: Propagation) -> sp.csr_array:
    """Return the 0/1 pattern of an operator without its diagonal, as a SciPy matrix."""
    matrix = operator.matrix
    csr = sp.csr_array(
        (
            np.ones(matrix.num_nonzeros, dtype=np.float32),
            matrix.indices.cpu().numpy(),
            matrix.indptr.cpu().numpy(),
        ),
        shape=matrix.shape,
    )
    loopless = sp.csr_array(csr - sp.diags_array(csr.diagonal(), format="csr"))
    loopless.eliminate_zeros()
    return loopless


def two_hop_pattern(pattern: sp.csr_array) -> sp.csr_array:
    """Return the pairs at distance exactly two: :math:`A^2 > 0`, neither equal nor adjacent.

    >>> two_hop_pattern(sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).toarray().astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]])
    """
    pattern = sp.csr_array(pattern, dtype=np.float32)
    closed = sp.csr_array(pattern + sp.eye_array(pattern.shape[0], format="csr"))
    reached = sp.csr_array(pattern @ pattern)
    reached.data[:] = 1.0
    closed.data[:] = 1.0
    far = sp.csr_array(reached - reached.multiply(closed))
    far.eliminate_zeros()
    return far


@derived
def exact_hops(structure: Propagation) -> tuple[Propagation, Propagation]:
    """Return the symmetrically normalised operators of the one- and two-hop neighbours.

    No node is its own neighbour in either (H2GCN's design D1 and D2).
    """
    one_hop = pattern_of(structure)
    kind, device = structure.matrix.dtype, structure.matrix.device
    one, two = (
        Propagation.from_scipy(
            normalized_adjacency(pattern, kind="symmetric", renormalize=False),
            dtype=kind,
            device=device,
        )
        for pattern in (one_hop, two_hop_pattern(one_hop))
    )
    return one, two
