"""What a trained network shows of itself: the weights of its channels, and the channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.layers.adaptive_mixer import AdaptiveMixer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor, nn


def channel_arrays(
    build: Callable[[], nn.Module], state: Any, inputs: Any
) -> dict[str, NDArray[np.float32]]:
    """Return ``weights_0``, ... (N, K) by mixing layer and ``outputs_0``, ... (N, H) by channel.

    Empty for a network without adaptive mixing.
    """
    _, weights, outputs = look_inside(build, state, inputs)
    return {
        f"{name}_{number}": np.ascontiguousarray(part.detach().cpu().numpy(), np.float32)
        for name, parts in (("weights", weights), ("outputs", outputs))
        for number, part in enumerate(parts)
    }


def look_inside(
    build: Callable[[], nn.Module], state: Any, inputs: Any
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Return logits (N, C), the weights (N, K) of each mixing layer, the channels of the last.

    The model is rebuilt with the given state and evaluated without dropout.
    """
    import torch

    from heterophily.learning.seeding import reproducible

    with reproducible(0, torch.device("cpu")), torch.no_grad():
        model = build()
        model.load_state_dict(state)
        model.eval()
        seen: list[list[Tensor]] = []
        mixers = [part for part in model.modules() if isinstance(part, AdaptiveMixer)]
        hooks = [
            mixer.register_forward_pre_hook(lambda _, arguments: seen.append(list(arguments[0])))
            for mixer in mixers
        ]
        try:
            if not mixers:
                return model(inputs), [], []
            logits, weights = model(inputs, return_weights=True)
        finally:
            for hook in hooks:
                hook.remove()
    return logits, list(weights), seen[-1]
