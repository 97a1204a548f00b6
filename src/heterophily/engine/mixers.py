"""How the engine mixes channels: the fields of a layer's struct that describe its mixer."""

from __future__ import annotations

from typing import Any

from torch import nn

from heterophily.engine.parameters import FlatParameters, NotCoveredError
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.sum_mixer import SumMixer


def mixer_fields(mixer: nn.Module, parameters: FlatParameters) -> dict[str, Any]:
    """Return the mixer's options and the places of its parameters."""
    if type(mixer) not in (AdaptiveMixer, SumMixer):
        raise NotCoveredError(f"mixer {type(mixer).__name__} runs in torch")
    if not isinstance(mixer, AdaptiveMixer):
        names = ("vectors", "mix_weight", "norm_gain", "norm_shift")
        return {"temperature": 1.0, "scale": 1.0, **dict.fromkeys(names, -1)}
    return {
        "is_adaptive": True,
        "is_combined": mixer.features == "combined",
        "temperature": mixer.temperature,
        "scale": mixer.scale,
        "vectors": parameters.place(mixer.vectors),
        "mix_weight": parameters.place(mixer.mix_weight),
        "norm_gain": parameters.place(mixer.norm_gain),
        "norm_shift": parameters.place(mixer.norm_shift),
    }
