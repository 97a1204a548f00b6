"""A bank of node filters on one operator: one sparse product serves them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError, lookup
from heterophily.filters.filter import FILTERS, Filter
from heterophily.filters.normalization import Normalization, NormalizedAdjacency


@dataclass(frozen=True, eq=False)
class FilterBank:
    """One operator Â and named filters ``identity * I + aggregate * Â`` on it.

    The default filters are those of the paper (section 4): ``low``, ``high`` and ``identity``;
    low and high pass add up to the identity, so nothing of a signal is lost.

    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> outputs = FilterBank.of(path).apply(np.array([3.0, 0.0, 3.0]))
    >>> outputs["low"], outputs["high"]
    (array([1.5, 2. , 1.5]), array([ 1.5, -2. ,  1.5]))
    """

    operator: NormalizedAdjacency | sp.csr_array
    filters: Mapping[str, Filter] = field(default_factory=lambda: MappingProxyType(dict(FILTERS)))

    def __post_init__(self) -> None:
        """Refuse an empty bank; keep the filters from being changed."""
        if not self.filters:
            raise InputError("a FilterBank needs at least one filter")
        object.__setattr__(self, "filters", MappingProxyType(dict(self.filters)))

    @classmethod
    def of(
        cls,
        adjacency: sp.csr_array,
        *,
        kind: Normalization = "random-walk",
        renormalize: bool = True,
        filters: Mapping[str, Filter] = FILTERS,
    ) -> FilterBank:
        """Build the bank on the normalised form of an adjacency matrix."""
        operator = NormalizedAdjacency.of(adjacency, kind=kind, renormalize=renormalize)
        return cls(operator, filters)

    def apply(self, signal: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """Return every filter's output for a signal of shape (N,) or (N, K)."""
        values = np.asarray(signal, dtype=np.float64)
        size = self.operator.shape[0]
        if values.ndim not in (1, 2) or values.shape[0] != size:
            raise InputError(
                f"the signal has shape {values.shape}, expected ({size},) or ({size}, K)"
            )
        needs_product = any(filter.aggregate for filter in self.filters.values())
        aggregated = self.operator @ values if needs_product else None
        return {name: _combine(filter, values, aggregated) for name, filter in self.filters.items()}

    def filter(self, name: str, signal: NDArray[Any]) -> NDArray[np.float64]:
        """Return one filter's output."""
        chosen = lookup(self.filters, "filter", name)
        return FilterBank(self.operator, {name: chosen}).apply(signal)[name]


def _combine(
    filter: Filter, signal: NDArray[np.float64], aggregated: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    result = filter.identity * signal
    if aggregated is not None and filter.aggregate:
        result += filter.aggregate * aggregated
    return result
