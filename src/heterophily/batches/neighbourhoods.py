"""Sampled neighbourhoods as inputs of a network: one operator for each layer, unbiased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from heterophily.channels.columns import FeatureScale
from heterophily.channels.operator import StreamedOperator
from heterophily.channels.rows import degrees_of
from heterophily.layers.inputs import GraphInputs, LayerStep
from heterophily.layers.propagation import Propagation
from heterophily.native.sampler import draw_neighbours, gather_rows, renumber

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
    panels, scale
        X as panels, and how it is scaled.
    fanouts
        Neighbours drawn in each layer, the first layer of the network first.
    threads
        Of the sampler and of the gathering; results do not depend on it.
    averages
        Panels of ÂX, scaled, for a network whose first layer filters X: nothing is drawn for that
        layer, and ``fanouts`` begin with the second.
    """

    operator: StreamedOperator
    panels: list[NDArray[np.float32]]
    scale: FeatureScale
    fanouts: tuple[int, ...]
    threads: int = 1
    averages: Sequence[NDArray[np.float32]] = ()

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
            every, places = renumber(known, drawn.neighbours)
            counts = np.diff(drawn.indptr)
            share = np.divide(
                drawn.degrees, counts, out=np.zeros(counts.size), where=counts > 0
            )  # d / k
            matrix = self._matrix(every, known.size, drawn.indptr, places, drawn.degrees, share)
            steps.append(LayerStep(Propagation.from_scipy(matrix), known.size))
            known = every
        rows = gather_rows(self.panels, known, threads=self.threads)
        features = torch.from_numpy(self.scale.apply(rows, known, slice(None)))
        averages = None
        if self.averages:
            averages = torch.from_numpy(gather_rows(self.averages, known, threads=self.threads))
        steps.reverse()
        return GraphInputs(
            features=features,
            operator=steps[0].operator,
            structure=None,
            num_nodes=known.size,
            num_features=int(features.shape[1]),
            steps=tuple(steps),
            averages=averages,
        )

    def _matrix(
        self,
        every: NDArray[np.int64],
        count: int,
        indptr: NDArray[np.int64],
        places: NDArray[np.int64],
        degrees: NDArray[np.int64],
        share: NDArray[np.float64],
    ) -> sp.csr_array:
        """Return the sampled operator (n, n): entries in the first ``count`` rows alone."""
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
        size = every.size
        return sp.csr_array((values.astype(np.float32), (owner, places)), shape=(size, size))


def _inverse(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(np.divide(1.0, values, out=np.zeros(values.size), where=values > 0))
