"""What the channels and the residual add to the logits of a node: the last layer, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.typed_acm_layer import TypedAcmLayer
from heterophily.prediction.members import network_logits
from heterophily.prediction.model import Network


@dataclass(frozen=True, eq=False)
class Contributions:
    r"""The logits of one node as a sum.

    The last layer of the ACM family mixes logits (step 3 of section 4.2), so that exactly

    .. math:: \text{logits} = \textstyle\sum_k \text{scale} \cdot \alpha_k H_k + H_X

    ``by_channel`` (K, C) holds the summands of the mixture. ``residual`` (C,) is
    :math:`H_X = \text{ReLU}(X W_X)`, which ACM-GCN++ adds to the logits after the mixture; it is
    None in models that add nothing.
    """

    logits: NDArray[np.float64]
    by_channel: NDArray[np.float64]
    residual: NDArray[np.float64] | None


def contributions(
    network: Network, built: nn.Module, inputs: GraphInputs, node: int
) -> Contributions | None:
    """Take the logits of a node apart; None when the last layer does not mix logits."""
    layers = [module for module in built.modules() if isinstance(module, (AcmLayer, TypedAcmLayer))]
    has_relu = getattr(network.spec.options, "output_relu", False)
    if not layers or len(network.channel_names) < 2 or has_relu:
        return None
    mixer: Any = layers[-1].mixer
    residual_layer: Any = getattr(built.backbone, "output_residual", None)
    mixed: list[Sequence[Tensor]] = []
    added: list[Tensor] = []
    handles = [mixer.register_forward_pre_hook(lambda _, given: mixed.append(given[0]))]
    if residual_layer is not None:
        handles.append(
            residual_layer.register_forward_hook(lambda _, __, output: added.append(output[node]))
        )
    try:
        logits = network_logits(built, inputs)
    finally:
        for handle in handles:
            handle.remove()
    channels = torch.stack([channel[node] for channel in mixed[-1]]).double()  # (K, C)
    if channels.shape[1] != logits.shape[1]:
        return None
    alphas = built.channel_weights(inputs)  # type: ignore[operator]
    shares = torch.ones(len(channels)) if not alphas else mixer.scale * alphas[-1][node]
    parts = channels * shares.double().unsqueeze(1)
    residual = torch.relu(added[-1]).double().numpy() if added else None
    return Contributions(
        np.asarray(logits[node].double().numpy()), np.asarray(parts.numpy()), residual
    )
