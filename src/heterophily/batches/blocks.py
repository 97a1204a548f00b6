"""Rows that were read as what a network takes: a tensor, or sparse features."""

from __future__ import annotations

import scipy.sparse as sp
import torch

from heterophily.channels.stored import Rows, dense, is_sparse
from heterophily.layers.channel_linear import Block
from heterophily.layers.sparse_features import SparseFeatures


def as_block(rows: Rows) -> Block:
    """Return rows (n, F) as a tensor; sparse ones stay sparse if at most a quarter is nonzero."""
    if isinstance(rows, sp.csr_array) and is_sparse(rows):
        return SparseFeatures.from_scipy(rows)
    return torch.from_numpy(dense(rows))
