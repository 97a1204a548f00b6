"""AcmConv: Adaptive Channel Mixing as a layer for any PyTorch network."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any, Literal

import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.adaptive_mixer import AdaptiveMixer, MixFeatures
from heterophily.layers.adjacency_input import Adjacency, AdjacencyCache, Flow, Operator
from heterophily.layers.bipartite import as_one_graph
from heterophily.layers.channel import PAPER_CHANNELS, Channel, Order, resolve_channels
from heterophily.layers.initialization import Initialization
from heterophily.layers.propagation import Propagation
from heterophily.layers.sum_mixer import SumMixer
from heterophily.layers.traced import is_traced

_BEGIN = Lock()


class AcmConv(nn.Module):
    r"""An ACM layer for your own network; it takes the graph in any usual form (section 4.2).

    .. math:: H_k = \text{ReLU}(F_k X W_k), \qquad
              H = \textstyle\sum_k \text{diag}(\alpha_k) H_k

    with the filters :math:`F_k` low pass Â, high pass I - Â and identity, and weights
    :math:`\alpha` learned for each node. Between layers, add your own ReLU and dropout.

    Parameters
    ----------
    in_channels, out_channels
        Columns of the input and the output. ``in_channels=-1`` is read from the first input:
        call the layer once before you give its parameters to an optimizer. A pair (F, F) is as
        good as F.
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
    bias
        Whether a learned row (H,) is added to the mixture; the paper has none.
    flow
        ``"target_to_source"`` turns the edges of an ``edge_index`` around.

    Notes
    -----
    ``torch.compile``, ``torch.export``, ``torch.jit.trace`` and ``torch.func`` take the layer, and
    it can be differentiated twice; there the values of ``edge_index`` are not checked. When
    ``torch_geometric`` is imported before the layer is made, the layer is a ``MessagePassing``.

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
        in_channels: int | tuple[int, int],
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
        bias: bool = False,
        flow: Flow = "source_to_target",
    ) -> None:
        if type(self) is AcmConv and "torch_geometric" in sys.modules:
            from heterophily.layers.acm_conv_pyg import message_passing_class

            self.__class__ = message_passing_class()
        super().__init__()
        if mixer not in ("adaptive", "sum"):
            raise InputError(f"mixer={mixer!r}; choose adaptive or sum")
        if isinstance(in_channels, tuple):
            in_channels = _one_width(in_channels)
        self.in_channels, self.out_channels, self.flow = in_channels, out_channels, flow
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
        make = partial(
            AcmLayer,
            out_features=out_channels,
            mixer=part,
            channels=channels,
            order=order,
            activate=activate,
            num_nodes=num_nodes,
            initialization=initialization,
        )
        self._channels = resolve_channels(channels)
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        self.layer: AcmLayer | None = None if in_channels == -1 else make(in_channels)
        self._make = make if self.layer is None else None
        self._cache = AdjacencyCache(
            normalization=normalization, renormalize=renormalize, flow=flow
        )

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.layer is None:
            return
        self.layer.reset_parameters()
        if isinstance(self.layer.mixer, AdaptiveMixer):
            self.layer.mixer.reset_parameters()

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor],
        adjacency: Adjacency | None = None,
        edge_weight: Tensor | None = None,
        *,
        edge_index: Tensor | None = None,
        structure: Propagation | None = None,
        return_weights: bool = False,
    ) -> Any:
        """Map node features (N, F) to (N, H); on request return the mixing weights (N, K) too.

        Parameters
        ----------
        x
            (N, F) node features, or (B, N, F): B signals on the same graph. Or a pair (N1, F),
            (N2, F) of two sets of nodes with edges from the first to the second; they are one
            graph in which the first set receives nothing, and the output is (N2, H).
        adjacency
            A :class:`Propagation`, taken as Â itself; or A as a sparse tensor (N, N) or as an
            ``edge_index`` (2, E), normalised here and remembered until another one comes.
        edge_weight
            (E,) weights of the edges of an ``edge_index``, not negative; they receive a gradient
            when they require one.
        edge_index
            Another name for ``adjacency``, as PyTorch Geometric spells it.
        structure
            A for the structure channel; only needed when ``adjacency`` is a ``Propagation``.
        return_weights
            Whether to return ``(output, weights)``.

        Notes
        -----
        Under ``torch.autocast`` the layer computes in float32. Threads may share a layer.
        """
        if (adjacency is None) == (edge_index is None):
            raise InputError("pass the adjacency once: as second argument or as edge_index=")
        given: Any = adjacency if edge_index is None else edge_index
        if isinstance(x, tuple):
            if any(channel.source == "structure" for channel in self._channels):
                raise InputError("the structure channel needs one set of nodes, not a pair")
            joined, edges, count = as_one_graph(x, given, self.flow)
            found = self(joined, edges, edge_weight, return_weights=return_weights)
            return tuple(part[count:] for part in found) if return_weights else found[count:]
        if x.ndim == 3:
            if len(x) == 0:
                raise InputError(
                    f"x has shape {tuple(x.shape)}; it needs at least one matrix of node features"
                )
            each = [
                self(signal, given, edge_weight, structure=structure, return_weights=return_weights)
                for signal in x
            ]
            if not return_weights:
                return torch.stack(each)
            return tuple(torch.stack(part) for part in zip(*each, strict=True))
        if not x.is_meta and torch.is_autocast_enabled(x.device.type):
            with torch.autocast(x.device.type, enabled=False):
                return self._mapped(x.float(), given, edge_weight, structure, return_weights)
        return self._mapped(x, given, edge_weight, structure, return_weights)

    def _mapped(
        self,
        x: Tensor,
        adjacency: Any,
        edge_weight: Tensor | None,
        structure: Propagation | None,
        return_weights: bool,
    ) -> Any:
        layer = self.layer
        if layer is None and x.ndim == 2:
            if is_traced(x):
                raise InputError(
                    "the layer does not know its width yet; call it once on ordinary tensors, or "
                    "give in_channels"
                )
            layer = self._begin(x)
        if layer is None or x.ndim != 2 or x.shape[1] != self.in_channels:
            raise InputError(f"x has shape {tuple(x.shape)}, expected (N, {self.in_channels})")
        kind = next(self.parameters()).dtype
        if x.dtype != kind:
            raise InputError(f"x holds {x.dtype}, the layer {kind}; pass x.to({kind})")
        operator, known = self._prepared(adjacency, x, edge_weight)
        weights: list[Tensor] | None = [] if return_weights else None
        output = layer(x, operator, structure or known, weights=weights)
        if self.bias is not None:
            output = output + self.bias
        if weights is None:
            return output
        return output, weights[0] if weights else None

    def _prepared(
        self, adjacency: Any, x: Tensor, edge_weight: Tensor | None
    ) -> tuple[Operator, Operator | None]:
        """Return Â and, where it is known, A."""
        return self._cache.prepare(adjacency, x, edge_weight)

    def __prepare_scriptable__(self) -> nn.Module:
        """Refuse ``torch.jit.script``, which cannot read the layer."""
        raise InputError(
            "AcmConv cannot be scripted; use torch.compile, torch.export or torch.jit.trace"
        )

    def _begin(self, x: Tensor) -> AcmLayer | None:
        """Make the parameters that wait for the width of the first input."""
        with _BEGIN:
            if self._make is not None:
                self.in_channels = x.shape[1]
                self.layer = self._make(x.shape[1]).to(device=x.device, dtype=x.dtype)
                self._make = None
            return self.layer

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        weight = state_dict.get(f"{prefix}layer.weight")
        if self.layer is None and weight is not None:
            self._begin(weight.new_empty(0, weight.shape[1]))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"AcmConv({self.in_channels}, {self.out_channels})"


def _one_width(widths: tuple[int, int]) -> int:
    """Return the width of both sets of nodes."""
    if len(set(widths)) != 1:
        raise InputError(
            f"in_channels={widths}; the channels compare a node with its neighbours, so both sets "
            "of nodes need the same number of columns"
        )
    return widths[0]
