"""Counting the neighbours of every node by class, several classes to a sparse product."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK = 2**20  # edges counted at a time by a thread
_MAX_THREADS = 4


def count_by_class(
    adjacency: sp.csr_array, labels: NDArray[np.int64], num_classes: int
) -> NDArray[np.float64]:
    """Return A Z, (N, C), for an adjacency whose entries are all 1; label -1 is in no class.

    A class owns a field of bits in a word, wide enough for the largest degree. One product of A
    with the words of the nodes then counts all the classes of a word at once.

    >>> count_by_class(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    indptr, indices = adjacency.indptr, adjacency.indices
    counts = np.zeros((labels.size, num_classes))
    if adjacency.nnz == 0:
        return counts
    largest = int(np.diff(indptr).max())
    bits = largest.bit_length()
    word = np.int32 if bits * num_classes < 32 else np.int64
    in_word = (8 * np.dtype(word).itemsize - 1) // bits
    groups = [range(at, min(at + in_word, num_classes)) for at in range(0, num_classes, in_word)]
    words = []
    for group in groups:
        of_class = np.zeros(num_classes + 1, word)  # the last entry is that of label -1
        of_class[group] = [1 << (bits * place) for place in range(len(group))]
        words.append(of_class[labels])

    cuts = _row_blocks(indptr, max(_BLOCK, largest))
    ones = np.ones(max(int(indptr[stop] - indptr[start]) for start, stop in pairwise(cuts)), word)

    def count(start: int, stop: int) -> None:
        low, high = int(indptr[start]), int(indptr[stop])
        rows = sp.csr_array(
            (ones[: high - low], indices[low:high], indptr[start : stop + 1] - low),
            shape=(stop - start, labels.size),
        )
        for group, packed in zip(groups, words, strict=True):
            sums = rows @ packed
            for place, k in enumerate(group):
                counts[start:stop, k] = (sums >> (bits * place)) & ((1 << bits) - 1)

    with ThreadPoolExecutor(
        count_threads(adjacency.nnz)
    ) as pool:  # SciPy multiplies outside the interpreter lock
        list(pool.map(count, cuts[:-1], cuts[1:]))
    return counts


def count_threads(edges: int) -> int:
    """Return on how many threads a pass over so many edges runs; it never changes a result."""
    return max(1, min(_MAX_THREADS, os.cpu_count() or 1, edges // _BLOCK))


def _row_blocks(indptr: NDArray[np.integer], block: int) -> list[int]:
    """Cut the rows into runs of at most ``block`` edges (no row has more)."""
    cuts = [0]
    while cuts[-1] < indptr.size - 1:
        limit = int(indptr[cuts[-1]]) + block
        cuts.append(int(np.searchsorted(indptr, limit, side="right")) - 1)
    return cuts
