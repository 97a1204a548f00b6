"""AcmConv: Adaptive Channel Mixing as a layer for any PyTorch network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.adaptive_mixer import AdaptiveMixer, MixFeatures
from heterophily.layers.adjacency_input import Adjacency, AdjacencyCache
from heterophily.layers.channel import PAPER_CHANNELS, Channel, Order
from heterophily.layers.initialization import Initialization
from heterophily.layers.propagation import Propagation
from heterophily.layers.sum_mixer import SumMixer


class AcmConv(nn.Module):
    r"""One ACM layer that takes the adjacency as you have it (section 4.2).

    .. math:: H_k = \text{ReLU}(F_k X W_k), \qquad
              H = \textstyle\sum_k \text{diag}(\alpha_k) H_k

    with the filters :math:`F_k` low pass Â, high pass I - Â and identity, and weights
    :math:`\alpha` learned for each node. Between layers, add your own ReLU and dropout.

    Parameters
    ----------
    in_channels, out_channels
        Columns of the input and the output.
    channels
        Names out of ``low``, ``high``, ``identity``, ``structure``, or own ``Channel`` values.
    order
        ``"filter-then-activate"`` (ACM) or ``"activate-then-filter"`` (ACMII).
    mixer
        ``"adaptive"`` or ``"sum"``.
    use_mix_weight, mix_features, use_layer_norm, temperature, mix_scale
        See :class:`~heterophily.layers.adaptive_mixer.AdaptiveMixer`.
    activate
        Whether channels pass a ReLU.
    normalization, renormalize
        How Â is made of A; the paper's Â is the random walk on A + I.
    num_nodes
        Needed by the structure channel only, whose weight has a row for each node.

    Examples
    --------
    >>> import torch
    >>> conv = AcmConv(3, 2)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        channels: Sequence[str | Channel] = PAPER_CHANNELS,
        order: Order = "filter-then-activate",
        mixer: Literal["adaptive", "sum"] = "adaptive",
        use_mix_weight: bool = True,
        mix_features: MixFeatures = "raw",
        use_layer_norm: bool = False,
        temperature: float | None = None,
        mix_scale: float = 1.0,
        activate: bool = True,
        normalization: Literal["random-walk", "symmetric"] = "random-walk",
        renormalize: bool = True,
        num_nodes: int | None = None,
        initialization: Initialization = "fan-out",
    ) -> None:
        super().__init__()
        if mixer not in ("adaptive", "sum"):
            raise InputError(f"mixer={mixer!r}; choose adaptive or sum")
        self.in_channels, self.out_channels = in_channels, out_channels
        part: nn.Module = SumMixer()
        if mixer == "adaptive":
            part = AdaptiveMixer(
                out_channels,
                len(channels),
                use_mix_weight=use_mix_weight,
                features=mix_features,
                use_layer_norm=use_layer_norm,
                temperature=temperature,
                scale=mix_scale,
                initialization=initialization,
            )
        self.layer = AcmLayer(
            in_channels,
            out_channels,
            part,
            channels=channels,
            order=order,
            activate=activate,
            num_nodes=num_nodes,
            initialization=initialization,
        )
        self._cache = AdjacencyCache(normalization=normalization, renormalize=renormalize)

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        self.layer.reset_parameters()
        if isinstance(self.layer.mixer, AdaptiveMixer):
            self.layer.mixer.reset_parameters()

    def forward(
        self,
        x: Tensor,
        adjacency: Adjacency,
        *,
        structure: Propagation | None = None,
        return_weights: bool = False,
    ) -> Any:
        """Map node features (N, F) to (N, H); on request return the mixing weights (N, K) too.

        Parameters
        ----------
        x
            (N, F) node features.
        adjacency
            A :class:`Propagation`, taken as Â itself; or A as a sparse tensor (N, N) or as an
            ``edge_index`` (2, E), normalised here and remembered until another one comes.
        structure
            A for the structure channel; only needed when ``adjacency`` is a ``Propagation``.
        return_weights
            Whether to return ``(output, weights)``.
        """
        if x.ndim != 2 or x.shape[1] != self.in_channels:
            raise InputError(f"x has shape {tuple(x.shape)}, expected (N, {self.in_channels})")
        operator, known = self._cache.prepare(adjacency, x)
        weights: list[Tensor] | None = [] if return_weights else None
        output = self.layer(x, operator, structure or known, weights=weights)
        if weights is None:
            return output
        return output, weights[0] if weights else None

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"AcmConv({self.in_channels}, {self.out_channels})"
