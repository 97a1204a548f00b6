"""A torch model read as a value: what the native engine needs to run it, or why it cannot."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn

from heterophily.engine.mixers import mixer_fields
from heterophily.engine.networks import PROGRAMS
from heterophily.engine.parameters import FlatParameters
from heterophily.engine.parameters import NotCoveredError as NotCoveredError
from heterophily.engine.program import ProgramBuilder
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.learning.learner import Learner
from heterophily.learning.seeding import reproducible
from heterophily.models.backbones.snowball import Snowball
from heterophily.models.backbones.stack import Stack
from heterophily.models.networks import NodeClassifier
from heterophily.models.spec import ModelSpec
from heterophily.native import structs
from heterophily.native.library import engine, runs_programs
from heterophily.training.config import TrainConfig

_OF_CHANNELS = NodeClassifier.__module__  # where networks of channels are defined


class Plan:
    """The structs of a model and the values of its parameters.

    ``model_struct`` describes a network of channels, ``program`` any other; one of them is None.

    Parameters
    ----------
    model
        A network of :mod:`heterophily.models`; anything else raises :class:`NotCoveredError`.
    """

    def __init__(self, model: nn.Module) -> None:
        if isinstance(model, Learner):
            raise NotCoveredError("")
        if reason := _type_reason(type(model)):
            raise NotCoveredError(reason)
        self.model = model
        self.parameters = FlatParameters(model)
        self.keep: list[Any] = []  # arrays that the structs point to
        self.operators: tuple[str, ...] = ()  # that a program needs beside Â
        self.model_struct: structs.Model | None = None
        self.program: structs.ProgramStruct | None = None
        if write := PROGRAMS.get(type(model)):
            check_library()
            builder = ProgramBuilder(self.parameters)
            write(model, builder)
            self.program, self.keep = builder.program()
            self.operators = builder.operators
            self.num_classes = int(self.program.steps[self.program.num_steps - 1].width)
            return
        backbone = model.backbone
        if isinstance(backbone, Stack):
            layers = self._stack(backbone)
        elif isinstance(backbone, Snowball):
            layers = self._snowball(backbone)
        else:
            raise NotCoveredError(f"the {type(backbone).__name__} wiring runs in torch")
        array = (structs.LayerStruct * len(layers))(*layers)
        self.keep.append(array)
        self.num_classes = int(layers[-1].width)
        self.model_struct = structs.Model(
            num_layers=len(layers),
            residual=structs.RESIDUALS[getattr(backbone, "residual", "none")],
            output_relu=backbone.output_relu,
            layers=array,
            num_parameters=self.parameters.size,
            input_rate=backbone.input_dropout,
            rate=backbone.dropout,
            **self._residuals(backbone),
        )

    def _stack(self, backbone: Stack) -> list[structs.LayerStruct]:
        return [
            self._layer(
                layer, sees_features=place == 0, first_state=max(place - 1, 0), states=place > 0
            )
            for place, layer in enumerate(backbone.layers)
        ]

    def _snowball(self, backbone: Snowball) -> list[structs.LayerStruct]:
        layers = [*backbone.layers, backbone.output]
        return [
            self._layer(layer, sees_features=True, first_state=0, states=place)
            for place, layer in enumerate(layers)
        ]

    def _layer(
        self, layer: nn.Module, *, sees_features: bool, first_state: int, states: int
    ) -> structs.LayerStruct:
        if type(layer) is not AcmLayer:
            raise NotCoveredError(f"layer {type(layer).__name__} runs in torch")
        channels = (structs.ChannelStruct * len(layer.channels))(
            *(
                structs.ChannelStruct(
                    c.filter.identity, c.filter.aggregate, c.hops, c.source == "structure"
                )
                for c in layer.channels
            )
        )
        self.keep.append(channels)
        known = layer.weight if layer.weight is not None else layer.structure_weight
        assert known is not None
        return structs.LayerStruct(
            width=known.shape[-1],
            num_channels=len(channels),
            sees_features=sees_features and layer.weight is not None,
            first_state=first_state,
            num_states=states if layer.weight is not None else 0,
            activates_first=layer.order == "activate-then-filter",
            activates=layer.activate,
            channels=channels,
            weight=self.parameters.place(layer.weight),
            structure_weight=self.parameters.place(layer.structure_weight),
            **mixer_fields(layer.mixer, self.parameters),
        )

    def _residuals(self, backbone: nn.Module) -> dict[str, int]:
        places, place = {}, self.parameters.place
        for part in ("hidden", "output"):
            linear: FeatureLinear | None = getattr(backbone, f"{part}_residual", None)
            places[f"{part}_residual"] = place(None if linear is None else linear.weight)
            places[f"{part}_bias"] = place(None if linear is None else linear.bias)
        return places


def _type_reason(network: type[nn.Module]) -> str:
    """Return why no network of a type is covered; empty if it depends on the options."""
    is_known = network in PROGRAMS or network.__module__ == _OF_CHANNELS
    return "" if is_known else f"{network.__name__} runs in torch"


def covers(spec: ModelSpec, config: TrainConfig | None = None) -> str | None:
    """Return why the native engine cannot train a model in some way, or None if it can.

    The reason is empty for a model that fits itself: neither engine has a part in it.

    >>> from heterophily.models.catalog import MODELS
    >>> covers(MODELS["acm-gcn"]), covers(MODELS["sgformer"])
    (None, 'Sgformer runs in torch')
    """
    if config is not None and (reason := config_reason(config, spec.network)):
        return reason
    try:
        return _model_reason(spec)
    except TypeError:  # options of your own model that have no hash
        return _model_reason.__wrapped__(spec)


def config_reason(config: TrainConfig, network: type[nn.Module]) -> str:
    """Return what of a configuration the engine does not do; empty if it does all."""
    if config.is_weighted and not runs_programs(engine().library):
        return "class weights: " + _OLD_LIBRARY
    if config.has_groups and not hasattr(network, "filter_coefficients"):
        return f"{network.__name__} learns no coefficients of a filter"
    return ""


@cache
def _model_reason(spec: ModelSpec) -> str | None:
    if issubclass(spec.network, Learner):
        return ""
    if reason := _type_reason(spec.network):
        return reason
    with reproducible(0, torch.device("cpu")):
        model = spec.build(num_nodes=4, num_features=3, num_classes=2)
    try:
        Plan(model)
    except NotCoveredError as error:
        return str(error)
    return None


_OLD_LIBRARY = "the native library is older than this package; run setup.py build_ext --inplace"


def check_library() -> None:
    """Refuse a library that was built before it knew lists of steps and class weights."""
    library = engine().library
    if library is not None and not runs_programs(library):
        raise NotCoveredError(_OLD_LIBRARY)
