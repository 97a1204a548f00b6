"""A torch model read as a value: what the native engine needs to run it, or why it cannot."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.engine import structs
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.layers.sum_mixer import SumMixer
from heterophily.models.backbones.snowball import Snowball
from heterophily.models.backbones.stack import Stack
from heterophily.models.networks import NodeClassifier
from heterophily.models.spec import ModelSpec
from heterophily.training.learner import Learner
from heterophily.training.seeding import reproducible

_DTYPES = (torch.float32, torch.float64)


class NotCoveredError(Exception):
    """The native engine does not know this model; the message says what is not covered."""


class Plan:
    """The structs of a model and the values of its parameters.

    Parameters
    ----------
    model
        A network of :mod:`heterophily.models`; anything else raises :class:`NotCoveredError`.
    """

    def __init__(self, model: nn.Module) -> None:
        if isinstance(model, Learner):
            raise NotCoveredError("")
        if type(model).__module__ != NodeClassifier.__module__:
            raise NotCoveredError(f"{type(model).__name__} runs in torch")
        self.model, backbone = model, model.backbone
        self._places: dict[int, int] = {}
        self.shapes: dict[str, torch.Size] = {}
        size = 0
        for name, parameter in model.named_parameters():
            if parameter.dtype not in _DTYPES or not parameter.requires_grad:
                raise NotCoveredError(f"parameter {name} is {parameter.dtype} or frozen")
            self._places[id(parameter)] = size
            self.shapes[name] = parameter.shape
            size += parameter.numel()
        self.dtype = next(model.parameters()).dtype
        self.initial = _flat(list(model.parameters()))
        self._keep: list[Any] = []  # arrays that the structs point to
        if isinstance(backbone, Stack):
            layers = self._stack(backbone)
        elif isinstance(backbone, Snowball):
            layers = self._snowball(backbone)
        else:
            raise NotCoveredError(f"the {type(backbone).__name__} wiring runs in torch")
        array = (structs.Layer * len(layers))(*layers)
        self._keep.append(array)
        self.struct = structs.Model(
            num_layers=len(layers),
            residual=structs.RESIDUALS[getattr(backbone, "residual", "none")],
            output_relu=backbone.output_relu,
            layers=array,
            num_parameters=size,
            input_rate=backbone.input_dropout,
            rate=backbone.dropout,
            **self._residuals(backbone),
        )

    def state(self, flat: NDArray[Any]) -> dict[str, Tensor]:
        """Return a flat parameter vector in the layout of ``state_dict``."""
        sizes = [shape.numel() for shape in self.shapes.values()]
        parts = torch.split(torch.from_numpy(flat.copy()), sizes)
        pairs = zip(self.shapes.items(), parts, strict=True)
        return {name: part.view(shape).clone() for (name, shape), part in pairs}

    def _stack(self, backbone: Stack) -> list[structs.Layer]:
        return [
            self._layer(
                layer, sees_features=place == 0, first_state=max(place - 1, 0), states=place > 0
            )
            for place, layer in enumerate(backbone.layers)
        ]

    def _snowball(self, backbone: Snowball) -> list[structs.Layer]:
        layers = [*backbone.layers, backbone.output]
        return [
            self._layer(layer, sees_features=True, first_state=0, states=place)
            for place, layer in enumerate(layers)
        ]

    def _layer(
        self, layer: nn.Module, *, sees_features: bool, first_state: int, states: int
    ) -> structs.Layer:
        if type(layer) is not AcmLayer:
            raise NotCoveredError(f"layer {type(layer).__name__} runs in torch")
        mixer = layer.mixer
        if type(mixer) not in (AdaptiveMixer, SumMixer):
            raise NotCoveredError(f"mixer {type(mixer).__name__} runs in torch")
        channels = (structs.Channel * len(layer.channels))(
            *(
                structs.Channel(
                    c.filter.identity, c.filter.aggregate, c.hops, c.source == "structure"
                )
                for c in layer.channels
            )
        )
        self._keep.append(channels)
        known = layer.weight if layer.weight is not None else layer.structure_weight
        assert known is not None
        adaptive = mixer if isinstance(mixer, AdaptiveMixer) else None
        return structs.Layer(
            width=known.shape[-1],
            num_channels=len(channels),
            sees_features=sees_features and layer.weight is not None,
            first_state=first_state,
            num_states=states if layer.weight is not None else 0,
            activates_first=layer.order == "activate-then-filter",
            activates=layer.activate,
            is_adaptive=adaptive is not None,
            is_combined=adaptive is not None and adaptive.features == "combined",
            temperature=1.0 if adaptive is None else adaptive.temperature,
            scale=1.0 if adaptive is None else adaptive.scale,
            channels=channels,
            weight=self._place(layer.weight),
            structure_weight=self._place(layer.structure_weight),
            vectors=self._place(adaptive.vectors if adaptive is not None else None),
            mix_weight=self._place(adaptive.mix_weight if adaptive is not None else None),
            norm_gain=self._place(adaptive.norm_gain if adaptive is not None else None),
            norm_shift=self._place(adaptive.norm_shift if adaptive is not None else None),
        )

    def _residuals(self, backbone: nn.Module) -> dict[str, int]:
        places = {}
        for part in ("hidden", "output"):
            linear: FeatureLinear | None = getattr(backbone, f"{part}_residual", None)
            places[f"{part}_residual"] = self._place(None if linear is None else linear.weight)
            places[f"{part}_bias"] = self._place(None if linear is None else linear.bias)
        return places

    def _place(self, parameter: Tensor | None) -> int:
        return -1 if parameter is None else self._places[id(parameter)]


def covers(spec: ModelSpec) -> str | None:
    """Return why the native engine cannot train a model, or None if it can.

    The reason is empty for a model that fits itself: neither engine has a part in it.

    >>> from heterophily.models.catalog import MODELS
    >>> covers(MODELS["acm-gcn"]), covers(MODELS["gat"])
    (None, 'Gat runs in torch')
    """
    if issubclass(spec.network, Learner):
        return ""
    if spec.network.__module__ != NodeClassifier.__module__:
        return f"{spec.network.__name__} runs in torch"
    with reproducible(0, torch.device("cpu")):
        model = spec.build(num_nodes=4, num_features=3, num_classes=2)
    try:
        Plan(model)
    except NotCoveredError as error:
        return str(error)
    return None


def _flat(parameters: Sequence[Tensor]) -> NDArray[Any]:
    joined: NDArray[Any] = torch.cat([p.detach().reshape(-1) for p in parameters]).numpy()
    return np.ascontiguousarray(joined)


def address(array: NDArray[Any] | None) -> int | None:
    """Return where an array's data lie, for a struct."""
    return None if array is None else array.ctypes.data


def pointer(struct: ctypes.Structure) -> Any:
    """Return a pointer to a struct that the caller keeps alive."""
    return ctypes.pointer(struct)
