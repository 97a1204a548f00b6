"""Sampled neighbourhoods as inputs of a network: one operator for each layer, unbiased."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.batches.blocks import as_block
from heterophily.channels.columns import FeatureScale
from heterophily.channels.operator import StreamedOperator
from heterophily.channels.rows import degrees_of
from heterophily.channels.stored import Stored, read_rows
from heterophily.layers.averaged_features import AveragedFeatures, Averages
from heterophily.layers.channel_linear import Block
from heterophily.layers.inputs import GraphInputs, LayerStep
from heterophily.layers.propagation import Propagation
from heterophily.layers.sparse_features import SparseFeatures
from heterophily.layers.sparse_matrix import SparseMatrix
from heterophily.native.sampler import Drawn, all_neighbours, draw_neighbours, renumber

_LAYERS = 64  # of one batch: rounds of different batches never meet


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    r"""Draws the neighbourhood of some nodes, layer by layer.

    Of the d neighbours of a node k are drawn without replacement, and their entries of Â are
    multiplied by d / k; the entry of the node itself stays. So the operator of a layer has
    the expectation Â. For the random walk a row is

    .. math:: \frac{1}{d + 1} \Big(x_v + \frac{d}{k} \sum_{u \in S} x_u\Big)

    where the plain mean over the node and its sample would be biased.

    Parameters
    ----------
    operator
        Â, by its rows.
    features, scale
        X as panels or sparse, and how it is scaled.
    fanouts
        Neighbours drawn in each layer, the first layer of the network first.
    threads
        Of the sampler and of the gathering; results do not depend on it.
    averages
        ÂX, scaled, for a network whose first layer filters X: nothing is drawn for that layer, and
        ``fanouts`` begin with the second. ``"of-neighbours"``: they are not stored, because X is
        sparse; all neighbours of a node are read instead.
    """

    operator: StreamedOperator
    features: Stored
    scale: FeatureScale
    fanouts: tuple[int, ...]
    threads: int = 1
    averages: Stored | Literal["of-neighbours"] = ()

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Degrees of all nodes, (N,); the symmetric form needs those of neighbours."""
        return degrees_of(self.operator.parts)

    def inputs(self, nodes: NDArray[np.int64], *, seed: int, round: int) -> GraphInputs:
        """Return the inputs whose last layer gives the rows of ``nodes``, in their order."""
        steps: list[LayerStep] = []
        known = np.ascontiguousarray(nodes, np.int64)
        for layer in reversed(range(len(self.fanouts))):
            drawn = draw_neighbours(
                self.operator.parts,
                known,
                self.fanouts[layer],
                seed=seed,
                round=round * _LAYERS + layer,
                threads=self.threads,
            )
            matrix, every = self._rows(known, drawn)
            matrix.resize(every.size, every.size)  # rows without entries for nodes further out
            steps.append(LayerStep(Propagation.from_scipy(matrix), known.size))
            known = every
        features = self._read(known)
        steps.reverse()
        return GraphInputs(
            features=features,
            operator=steps[0].operator,
            structure=None,
            num_nodes=known.size,
            num_features=int(features.shape[1]),
            steps=tuple(steps),
            averages=self._averages(known),
        )

    def _read(self, nodes: NDArray[np.int64]) -> Block:
        rows = read_rows(self.features, nodes, threads=self.threads)
        return as_block(self.scale.apply(rows, nodes, slice(None)))

    def _averages(self, nodes: NDArray[np.int64]) -> Averages | None:
        """Return ÂX of some nodes, if the first layer reads it."""
        if isinstance(self.averages, str):
            matrix, every = self._rows(nodes, all_neighbours(self.operator.parts, nodes))
            rows = read_rows(self.features, every, threads=self.threads)
            scaled = self.scale.apply(rows, every, slice(None))
            return AveragedFeatures(
                SparseMatrix.from_scipy(matrix), SparseFeatures.from_scipy(scaled)
            )
        if len(self.averages) == 0:
            return None
        return as_block(read_rows(self.averages, nodes, threads=self.threads))

    def _rows(
        self, known: NDArray[np.int64], drawn: Drawn
    ) -> tuple[sp.csr_array, NDArray[np.int64]]:
        """Return the rows of the sampled operator, (n, M), and the M nodes of its columns."""
        every, places = renumber(known, drawn.neighbours)
        counts = np.diff(drawn.indptr)
        share = np.divide(drawn.degrees, counts, out=np.zeros(counts.size), where=counts > 0)
        matrix = self._matrix(every, known.size, drawn.indptr, places, drawn.degrees, share)
        return matrix, every

    def _matrix(
        self,
        every: NDArray[np.int64],
        count: int,
        indptr: NDArray[np.int64],
        places: NDArray[np.int64],
        degrees: NDArray[np.int64],
        share: NDArray[np.float64],  # d / k
    ) -> sp.csr_array:
        """Return the rows of the sampled operator for the first ``count`` nodes."""
        loop = 1.0 if self.operator.renormalize else 0.0
        own = _inverse(degrees + loop)
        owner = np.repeat(np.arange(count), np.diff(indptr))
        if self.operator.kind == "symmetric":
            others = np.sqrt(_inverse(self.degrees[every[places]] + loop))
            values = np.sqrt(own[owner]) * share[owner] * others
        else:
            values = own[owner] * share[owner]
        if loop:
            places = np.concatenate([places, np.arange(count)])
            owner = np.concatenate([owner, np.arange(count)])
            values = np.concatenate([values, own])
        return sp.csr_array((values.astype(np.float32), (owner, places)), (count, every.size))


def _inverse(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(np.divide(1.0, values, out=np.zeros(values.size), where=values > 0))
