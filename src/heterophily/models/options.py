"""Options of the ACM family: every variant of the paper is a value of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from torch import nn

from heterophily.errors import InputError
from heterophily.layers.acm_layer import AcmLayer
from heterophily.layers.adaptive_mixer import MIX_FEATURES, AdaptiveMixer, MixFeatures
from heterophily.layers.channel import PAPER_CHANNELS, Channel, Order, check_order, resolve_channels
from heterophily.layers.dropout import check_rate
from heterophily.layers.initialization import BOUNDS, Initialization
from heterophily.layers.scalar_mixer import ScalarMixer
from heterophily.layers.sum_mixer import SumMixer

MixerName = Literal["adaptive", "scalar", "sum"]
ResidualRule = Literal["none", "every-layer", "once"]


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(f"{name}={value!r}; choose one of {', '.join(choices)}")


def check_count(name: str, value: object) -> None:
    """Refuse anything but a whole number above 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}={value!r}; it must be a whole number above 0")


@dataclass(frozen=True, kw_only=True)
class ChannelOptions:
    """What all networks of channels share.

    Parameters
    ----------
    hidden
        Columns H of the hidden layers.
    dropout
        Rate of the dropout before each layer.
    input_dropout
        Rate for the input features; by default ``dropout``, as in the released code (the paper
        does not describe the input). 0 leaves the input alone.
    channels
        Channels of each layer; ``with_structure`` adds the structure channel to them.
    order
        ``"filter-then-activate"`` is ACM, ``"activate-then-filter"`` ACMII.
    mixer
        ``"adaptive"``: weights of each node; ``"scalar"``: one weight for each channel, the same
        for all nodes (the filterbank that the paper compares ACM with); ``"sum"``: the channels are
        added (ablation "no mixing").
    use_mix_weight, mix_features, mix_scale, temperature, use_layer_norm
        See :class:`~heterophily.layers.adaptive_mixer.AdaptiveMixer`. ``mix_scale=3`` is the
        released code's factor for three channels.
    with_structure
        Whether each layer has the structure channel ``ReLU(A W_A)``.
    activate_output
        Whether the channels of the output layer pass a ReLU. True for ACM (step 1 says "each
        layer"); False for the uni-channel networks, whose logits are ``Â H W``.
    output_relu
        Whether the logits pass the ReLU that the paper writes outside the mixture in every
        layer. False by default, as in the released code: with it, no logit could be negative.
    initialization
        ``"fan-out"`` (released code) or ``"glorot"``.
    """

    hidden: int = 64
    dropout: float = 0.5
    input_dropout: float | None = None
    channels: tuple[str | Channel, ...] = PAPER_CHANNELS
    order: Order = "filter-then-activate"
    mixer: MixerName = "adaptive"
    use_mix_weight: bool = True
    mix_features: MixFeatures = "raw"
    mix_scale: float = 1.0
    temperature: float | None = None
    use_layer_norm: bool = False
    with_structure: bool = False
    activate_output: bool = True
    output_relu: bool = False
    initialization: Initialization = "fan-out"

    def __post_init__(self) -> None:
        """Check every value once."""
        check_count("hidden", self.hidden)
        check_rate(self.dropout)
        check_rate(self.input_rate, name="input_dropout")
        object.__setattr__(self, "channels", tuple(self.channels))
        resolve_channels((*self.channels, *(["structure"] if self.with_structure else ())))
        check_order(self.order)
        check_choice("mixer", self.mixer, tuple(MIXERS))
        check_choice("mix_features", self.mix_features, MIX_FEATURES)
        check_choice("initialization", self.initialization, tuple(BOUNDS))
        if self.temperature is not None and not self.temperature > 0:
            raise InputError(f"temperature={self.temperature}; it must be above 0")
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                raise InputError(
                    f"{field.name}={getattr(self, field.name)!r}; it must be True or False"
                )

    @property
    def input_rate(self) -> float:
        """Rate of the dropout on the input features."""
        return self.dropout if self.input_dropout is None else self.input_dropout

    @property
    def layer_channels(self) -> tuple[str | Channel, ...]:
        """The channels of each layer, the structure channel last."""
        return (*self.channels, "structure") if self.with_structure else self.channels

    def make_mixer(self, width: int) -> nn.Module:
        """Build the mixer of a layer of the given width."""
        return MIXERS[self.mixer](self, width)

    def make_layer(
        self, in_features: int, out_features: int, *, num_nodes: int, is_output: bool
    ) -> AcmLayer:
        """Build one layer: what a backbone is given to wire."""
        return AcmLayer(
            in_features,
            out_features,
            self.make_mixer(out_features),
            channels=self.layer_channels,
            order=self.order,
            activate=self.activate_output if is_output else True,
            num_nodes=num_nodes,
            initialization=self.initialization,
        )


def _adaptive(options: ChannelOptions, width: int) -> AdaptiveMixer:
    return AdaptiveMixer(
        width,
        len(options.layer_channels),
        use_mix_weight=options.use_mix_weight,
        features=options.mix_features,
        use_layer_norm=options.use_layer_norm,
        temperature=options.temperature,
        scale=options.mix_scale,
        initialization=options.initialization,
    )


MIXERS: Mapping[str, Callable[[ChannelOptions, int], nn.Module]] = {
    "adaptive": _adaptive,
    "scalar": lambda options, _: ScalarMixer(len(options.layer_channels), scale=options.mix_scale),
    "sum": lambda options, _: SumMixer(),
}
"""Name -> what mixes the channels of a layer of some options and width."""


@dataclass(frozen=True, kw_only=True)
class StackOptions(ChannelOptions):
    """Layers one after the other: GCN, MLP, SGC and their ACM twins.

    Parameters
    ----------
    depth
        Number of layers. One layer maps the features to the logits (SGC, MLP-1).
    residual
        ``"none"``; ``"every-layer"``: ``H_X = ReLU(X W_X)`` is added to every layer's output, as
        the paper writes for ACM-GCN++ (the logits have their own W_X, since their width
        differs); ``"once"``: the released code, which adds ``Dropout(H_X)`` to the input of the
        second layer and nowhere else.
    residual_bias
        Whether ``X W_X`` has a bias, as in the released code.
    """

    depth: int = 2
    residual: ResidualRule = "none"
    residual_bias: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        check_choice("residual", self.residual, ("none", "every-layer", "once"))
        if self.residual == "once" and self.depth < 2:
            raise InputError("residual='once' adds to the second layer's input; set depth >= 2")


@dataclass(frozen=True, kw_only=True)
class SnowballOptions(ChannelOptions):
    """Every layer sees the input and all layers before it (Luan et al. 2019).

    Parameters
    ----------
    depth
        Number of hidden layers; the output layer comes after them.
    """

    depth: int = 2

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)


@dataclass(frozen=True, kw_only=True)
class GcniiOptions(ChannelOptions):
    r"""GCNII and GCNII* (Chen et al. 2020), with one or several channels.

    Parameters
    ----------
    depth
        Number of GCNII layers, between the input map and the output map.
    alpha_l
        Share :math:`\alpha_\ell` of the initial state :math:`H^{(0)}` in each layer.
    lambda_
        Sets :math:`\beta_\ell = \log(\lambda / \ell + 1)`.
    is_star
        Whether :math:`H^{(0)}` has its own weight (GCNII*).
    """

    depth: int = 4
    alpha_l: float = 0.1
    lambda_: float = 0.5
    is_star: bool = False

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        check_count("depth", self.depth)
        if not 0.0 <= self.alpha_l <= 1.0:
            raise InputError(f"alpha_l={self.alpha_l}; it is a share between 0 and 1")
        if not self.lambda_ > 0.0:
            raise InputError(f"lambda={self.lambda_}; it must be above 0")
        if self.order == "activate-then-filter":
            raise InputError(
                "GCNII has no ACMII form: before its weight it adds the initial state H0, which is "
                "not filtered, so filter and activation cannot change places (see the paper's "
                "appendix on implementation); use acm-gcnii"
            )
        if self.with_structure:
            raise InputError("GCNII has no structure channel; use acm-gcn+ or acm-gcn++")
