"""Neural sheaf diffusion: Diag-NSD, O(d)-NSD and Gen-NSD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from heterophily.errors import InputError
from heterophily.layers.derived import derived
from heterophily.layers.dropout import dropout
from heterophily.layers.edges import Edges, edges_of
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.feature_mlp import drop_features
from heterophily.layers.initialization import initialize
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.neighbourhoods import pattern_of
from heterophily.layers.propagation import Propagation
from heterophily.layers.sheaf import LAPLACIANS, SheafLaplacian, fixed_laplacian, householder
from heterophily.layers.sheaf_edges import blocks_times, maps_of_ends
from heterophily.models.baseline import BaselineOptions, Card
from heterophily.models.options import check_choice, check_count

Maps = Literal["diagonal", "orthogonal", "general"]


@dataclass(frozen=True, kw_only=True)
class SheafOptions(BaselineOptions):
    """Sheaf diffusion.

    Parameters
    ----------
    hidden
        Columns of each dimension of a stalk.
    stalk
        Dimension d of the stalks; orthogonal and general maps need at least 2.
    depth
        Number of diffusion steps, each with a sheaf of its own.
    maps
        Kind of the restriction maps: ``"diagonal"``, ``"orthogonal"`` or ``"general"``.
    low_pass, high_pass
        Each adds a dimension to the stalks whose operator is not learned: the Laplacian without
        signs (:math:`D + A`) and the Laplacian of the graph (:math:`D - A`), both normalised. The
        released program has them as ``add_lp`` and ``add_hp``.
    second_linear
        A second linear map after the first, without activation (``second_linear`` there).
    """

    hidden: int = 20
    stalk: int = 3
    depth: int = 2
    maps: Maps = "diagonal"
    low_pass: bool = False
    high_pass: bool = False
    second_linear: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("stalk", self.stalk)
        check_count("depth", self.depth)
        check_choice("maps", self.maps, tuple(LAPLACIANS))
        if self.maps != "diagonal" and self.stalk < 2:
            raise InputError(f"stalk={self.stalk}; {self.maps} maps need at least 2 dimensions")

    @property
    def fixed_signs(self) -> tuple[float, ...]:
        """The signs of A in the operators that are not learned."""
        return (-1.0,) * self.low_pass + (1.0,) * self.high_pass

    @property
    def dimensions(self) -> int:
        """Dimension of the stalks with those that are not learned."""
        return self.stalk + len(self.fixed_signs)

    @property
    def numbers_per_map(self) -> int:
        """How many numbers describe a restriction map."""
        pairs = self.stalk * (self.stalk - 1) // 2
        return {"diagonal": self.stalk, "orthogonal": pairs, "general": self.stalk**2}[self.maps]


def _orthogonal(numbers: Tensor, stalk: int) -> Tensor:
    return householder(numbers.flatten(1), stalk).view(stalk, stalk, *numbers.shape[1:])


FROM_NUMBERS: Mapping[str, Callable[[Tensor, int], Tensor]] = {
    "diagonal": lambda numbers, stalk: numbers,
    "orthogonal": _orthogonal,
    "general": lambda numbers, stalk: numbers.view(stalk, stalk, *numbers.shape[1:]),
}
"""From the learned numbers of the maps, (K, 2, P), to the restriction maps."""


@derived
def pairs_of(structure: Propagation) -> Edges:
    """Return the pairs of neighbours, each once, whatever the direction of the edge."""
    pattern, matrix = pattern_of(structure), structure.matrix
    upper = sp.triu(pattern + pattern.T, format="csr")
    upper.data[:] = 1.0
    return edges_of(Propagation.from_scipy(upper, dtype=matrix.dtype, device=matrix.device))


class SheafLayer(nn.Module):
    r"""One step of discrete sheaf diffusion with a sheaf learned from the state.

    .. math:: F_{v \to e} = \Phi(x_v \| x_u) = \tanh(V_1 x_v + V_2 x_u), \qquad
              X' = (1 + \varepsilon) X - \text{ELU}(\Delta_F (I \otimes W_1) X W_2)

    :math:`\varepsilon \in (-1, 1)`, one for each dimension of the stalks.
    """

    def __init__(self, options: SheafOptions) -> None:
        super().__init__()
        self.options = options
        stalk, width = options.dimensions, options.hidden
        self.learner = nn.Parameter(torch.empty(2, stalk * width, options.numbers_per_map))
        self.left = nn.Parameter(torch.eye(stalk))  # W_1
        self.right = nn.Parameter(nn.init.orthogonal_(torch.empty(width, width)))  # W_2
        self.epsilon = nn.Parameter(torch.zeros(stalk, 1))
        initialize(self.learner, "glorot")

    def forward(self, state: Tensor, pairs: Edges, *, is_first: bool) -> Tensor:
        """Map (N, d, H) to (N, d, H)."""
        rate, training = self.options.dropout, self.training
        seen = state if is_first else dropout(state, rate, training=training)
        laplacian = self.laplacian(seen, pairs)
        turned = blocks_times(self.left.unsqueeze(0), dropout(state, rate, training=training))
        signal = turned @ self.right
        moved = laplacian(signal[:, : self.options.stalk])
        if self.options.fixed_signs:
            fixed = fixed_laplacian(self.options.fixed_signs, pairs)
            moved = torch.cat([moved, fixed(signal[:, self.options.stalk :])], dim=1)
        step: Tensor = (1.0 + torch.tanh(self.epsilon)) * state - elu(moved)
        return step

    def laplacian(self, state: Tensor, pairs: Edges) -> SheafLaplacian:
        """Return the sheaf Laplacian of the maps that the state gives."""
        flat = state.flatten(1)
        numbers = maps_of_ends(flat @ self.learner[0], flat @ self.learner[1], pairs)
        kind = self.options.maps
        return LAPLACIANS[kind](FROM_NUMBERS[kind](numbers, self.options.stalk), pairs)


class SheafDiffusion(nn.Module):
    """Bodnar et al. (2022): a map in, steps of discrete sheaf diffusion, a map out."""

    card: ClassVar[Card] = Card(
        does="Learns for each edge a small matrix that transforms what a neighbour sends.",
        paper="Bodnar et al. 2022, Neural Sheaf Diffusion, the discrete model",
        cost="O(nnz(X) d H + L E d² H), d the stalk dimension (diagonal maps: d in place of d²)",
        departs="Householder products for O(d); no learned edge weights (an option of the released "
        "program); its own weight decay of the maps (`sheaf_decay`) is `coefficient_weight_decay`",
    )

    def __init__(
        self, options: SheafOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options = options
        columns = options.dimensions * options.hidden
        self.input = FeatureLinear(num_features, columns, bias=True, initialization="glorot")
        self.second: FeatureLinear | None = None
        if options.second_linear:
            self.second = FeatureLinear(columns, columns, bias=True, initialization="glorot")
        self.layers = nn.ModuleList(SheafLayer(options) for _ in range(options.depth))
        self.output = FeatureLinear(columns, num_classes, bias=True, initialization="glorot")

    @property
    def filter_coefficients(self) -> tuple[nn.Parameter, ...]:
        """What the maps are made of; it may have a weight decay of its own (``sheaf_decay``)."""
        return tuple(layer.learner for layer in self.layers if isinstance(layer, SheafLayer))

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logits (N, C)."""
        assert inputs.structure is not None
        options, training = self.options, self.training
        pairs = pairs_of(inputs.structure)
        features = drop_features(inputs.features, options.input_rate, training=training)
        hidden = dropout(elu(self.input(features)), options.dropout, training=training)
        if self.second is not None:
            hidden = self.second(hidden)
        state = hidden.view(-1, options.dimensions, options.hidden)
        for place, layer in enumerate(self.layers):
            state = layer(state, pairs, is_first=place == 0)
        logits: Tensor = self.output(state.flatten(1))
        return logits
