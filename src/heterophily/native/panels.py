"""A block of rows of a sparse product with a panel of columns; NumPy buffers in and out."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.native.library import engine

STRIDES = (4, 8, 16, 32, 64)
"""Floats that a row of a panel may take in memory; a row of 16 fills one line of the cache."""


class _PanelRows(ctypes.Structure):
    """``hp_panel_rows`` of native/source/panel_product.h."""

    _fields_ = (
        ("first_row", c_int64),
        ("num_rows", c_int64),
        ("stride", c_int64),
        ("width", c_int64),
        ("index_bytes", c_int32),
        ("has_loop", c_int32),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("left", c_void_p),
        ("panel", c_void_p),
        ("out", c_void_p),
    )


def panel_product(
    first_row: int,
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    left: NDArray[np.float64],
    panel: NDArray[np.float32],
    out: NDArray[np.float32],
    *,
    has_loop: bool,
    threads: int = 1,
) -> None:
    """Write ``left_v (loop x_v + sum of x_u over the neighbours of v)`` for a block of rows.

    Parameters
    ----------
    first_row
        Number of the first node of the block.
    indptr, indices
        The rows of the block: ``indptr`` (n + 1,) may begin anywhere, ``indices`` are those from
        ``indptr[0]`` to ``indptr[n]``, uint32 or int64.
    left
        (n,) factor of each row.
    panel
        (N, S) columns of all nodes, S one of ``STRIDES``, contiguous.
    out
        (n, width) result, contiguous, width at most S.
    has_loop
        Whether the node itself is added.
    threads
        Sums do not depend on it: each row is added in float64 in the order of its entries.

    Examples
    --------
    >>> panel = np.array([[3.0, 0, 0, 0], [1.0, 0, 0, 0]], np.float32)
    >>> out = np.empty((2, 1), np.float32)
    >>> ends = np.array([1, 0], np.uint32)
    >>> panel_product(0, np.array([0, 1, 2]), ends, np.full(2, 0.5), panel, out, has_loop=True)
    >>> out.ravel().tolist()
    [2.0, 2.0]
    """
    function = native_function("hp_panel_product", _PanelRows)
    if function is None:
        _plain_product(first_row, indptr, indices, left, panel, out, has_loop=has_loop)
        return
    struct = _PanelRows(
        first_row=first_row,
        num_rows=out.shape[0],
        stride=panel.shape[1],
        width=out.shape[1],
        index_bytes=indices.itemsize,
        has_loop=int(has_loop),
        indptr=indptr.ctypes.data,
        indices=indices.ctypes.data,
        left=left.ctypes.data,
        panel=panel.ctypes.data,
        out=out.ctypes.data,
    )
    call(function, struct, threads)


def _plain_product(
    first_row: int,
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    left: NDArray[np.float64],
    panel: NDArray[np.float32],
    out: NDArray[np.float32],
    *,
    has_loop: bool,
) -> None:
    """Do the same in NumPy, where the library is not built: for small graphs."""
    count, width = out.shape
    sums = np.zeros((count, width))
    owner = np.repeat(np.arange(count), np.diff(indptr))
    np.add.at(sums, owner, panel[indices.astype(np.int64), :width].astype(np.float64))
    if has_loop:
        sums += panel[first_row : first_row + count, :width]
    out[:] = sums * left[:, None]


def native_function(name: str, struct: type[ctypes.Structure]) -> Any:
    """Return a function of the library; None without a library, or with one that is older."""
    function = getattr(engine().library, name, None)
    if function is not None:
        function.restype = c_int64
        function.argtypes = [ctypes.POINTER(struct), c_int32]
    return function


def call(function: Any, struct: ctypes.Structure, threads: int) -> int:
    """Call a function of the library; return what it returned."""
    found = int(function(ctypes.byref(struct), threads))
    if found < 0:
        raise MemoryError
    return found
