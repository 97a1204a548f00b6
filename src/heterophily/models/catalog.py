"""All models by name: those of the paper, its baselines, and the field since then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from heterophily.errors import InputError, UnknownNameError, lookup
from heterophily.filters.filter import LOW
from heterophily.layers.channel import CHANNELS, Channel
from heterophily.models.field import FIELD
from heterophily.models.networks import GcniiNetwork, SnowballNetwork, StackNetwork
from heterophily.models.options import GcniiOptions, SnowballOptions, StackOptions
from heterophily.models.spec import ModelSpec
from heterophily.models.zoo import ZOO

# Uni-channel networks: one channel, nothing to mix, no ReLU on the logits.
GCN = StackOptions(channels=("low",), mixer="sum", activate_output=False)
SGC = replace(GCN, depth=1)
LOW_2 = Channel(LOW, hops=2)  # Â²; the high pass of ACM-SGC-2 stays I - Â, as in the released code
SNOWBALL = SnowballOptions(channels=("low",), mixer="sum", activate_output=False)
GCNII = GcniiOptions(channels=("low",), mixer="sum")

# Their ACM twins. SGC has no ReLU at all, so that ACM-SGC and ACMII-SGC are the same network.
ACM = StackOptions()
ACM_SGC = StackOptions(depth=1, activate_output=False)
ACM_SNOWBALL = SnowballOptions()
ACM_GCNII = GcniiOptions()


def _acmii(spec: ModelSpec) -> ModelSpec:
    return spec.with_options(order="activate-then-filter")


def _plus(spec: ModelSpec) -> ModelSpec:
    """ACM(II)-GCN+: layer norm before the scores, and by default the structure channel.

    With it X is taken as it is, as in the released program: beside A, which is not normalised, rows
    of X that add up to 1 are hardly heard (docs/fidelity.md has numbers).
    """
    return spec.with_options(use_layer_norm=True, with_structure=True, row_normalize=False)


def _plus_plus(spec: ModelSpec) -> ModelSpec:
    """ACM(II)-GCN++: the same with the residual H_X."""
    return _plus(spec).with_options(residual="every-layer")


def _paper_models() -> dict[str, ModelSpec]:
    acm, snowball = ModelSpec(StackNetwork, ACM), ModelSpec(SnowballNetwork, ACM_SNOWBALL)
    gcnii = ModelSpec(GcniiNetwork, ACM_GCNII)
    return {
        "mlp-1": ModelSpec(StackNetwork, replace(SGC, channels=("identity",))),
        "mlp-2": ModelSpec(StackNetwork, replace(GCN, channels=("identity",))),
        "sgc-1": ModelSpec(StackNetwork, SGC),
        "sgc-2": ModelSpec(StackNetwork, replace(SGC, channels=(LOW_2,))),
        "gcn": ModelSpec(StackNetwork, GCN),
        "gcnii": ModelSpec(GcniiNetwork, GCNII),
        "gcnii*": ModelSpec(GcniiNetwork, replace(GCNII, is_star=True)),
        "snowball-2": ModelSpec(SnowballNetwork, replace(SNOWBALL, depth=2)),
        "snowball-3": ModelSpec(SnowballNetwork, replace(SNOWBALL, depth=3)),
        "acm-sgc-1": ModelSpec(StackNetwork, ACM_SGC),
        "acm-sgc-2": ModelSpec(
            StackNetwork, replace(ACM_SGC, channels=(LOW_2, "high", "identity"))
        ),
        "acm-gcn": acm,
        "acmii-gcn": _acmii(acm),
        "acm-gcnii": gcnii,
        "acm-gcnii*": gcnii.with_options(is_star=True),
        "acm-snowball-2": snowball.with_options(depth=2),
        "acm-snowball-3": snowball.with_options(depth=3),
        "acmii-snowball-2": _acmii(snowball.with_options(depth=2)),
        "acmii-snowball-3": _acmii(snowball.with_options(depth=3)),
        "acm-gcn+": _plus(acm),
        "acmii-gcn+": _plus(_acmii(acm)),
        "acm-gcn++": _plus_plus(acm),
        "acmii-gcn++": _plus_plus(_acmii(acm)),
    }


TABLE_1_PARTS = ("low,high", "low,identity", "sum")
WHOLE_MIXERS = ("sum", "scalar")
"""Ablations that keep every channel and mix otherwise."""
_UNI_CHANNEL = {"acm-gcn": "gcn", "acm-sgc-1": "sgc-1"}  # Table 1 calls them "ACM-.. w/ LP"


class ModelTable(Mapping[str, ModelSpec]):
    """The models by name; ``name[parts]`` is the ablation that keeps only these parts.

    ``acm-gcn[low,high]`` has these channels, ``acm-gcn[sum]`` all of them without adaptive
    mixing, ``acm-gcn[scalar]`` all of them with one weight for each, shared by all nodes.
    Iteration gives the models of the paper, its baselines, later models and the rows of the paper's
    Table 1; other combinations of parts are found as well.

    >>> MODELS["acm-gcn[low,identity]"].options.channels
    ('low', 'identity')
    >>> MODELS["acmii-gcnii"]
    Traceback (most recent call last):
    heterophily.errors.InputError: GCNII has no ACMII form: before its weight it adds the initial \
state H0, which is not filtered, so filter and activation cannot change places (see the paper's \
appendix on implementation); use acm-gcnii
    """

    def __init__(self, models: Mapping[str, ModelSpec]) -> None:
        self._models = dict(models)
        for base in ("acm-sgc-1", "acm-gcn", "acmii-gcn"):
            if base in _UNI_CHANNEL:
                self._models[f"{base}[low]"] = self._models[_UNI_CHANNEL[base]]
            for parts in TABLE_1_PARTS:
                self._models[f"{base}[{parts}]"] = self._ablation(base, parts)

    def __getitem__(self, name: str) -> ModelSpec:
        """Return a model, or raise an error that says what is known."""
        if name in self._models:
            return self._models[name]
        if name in ("acmii-gcnii", "acmii-gcnii*"):
            return _acmii(self._models[name.replace("acmii", "acm")])  # refused with the reason
        base, bracket, rest = str(name).partition("[")
        if bracket and rest.endswith("]") and base in self._models:
            return self._ablation(base, rest[:-1])
        return lookup(self._models, "model", name)

    def __contains__(self, name: object) -> bool:
        """Whether the name is in the table, has readable parts, or is refused with a reason."""
        try:
            self[str(name)]
        except UnknownNameError:
            return False
        except InputError:
            return True
        return True

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the paper."""
        return iter(self._models)

    def __len__(self) -> int:
        """Return the number of names of the paper."""
        return len(self._models)

    def _ablation(self, base: str, text: str) -> ModelSpec:
        spec = self._models[base]
        parts = [part.strip() for part in text.split(",")]
        if len(parts) == 1 and parts[0] in WHOLE_MIXERS:
            return spec.with_options(mixer=parts[0])
        for part in parts:
            lookup({**CHANNELS, **dict.fromkeys(WHOLE_MIXERS)}, f"part of {base}", part)
        if len(set(parts)) < len(parts) or {*WHOLE_MIXERS, "structure"} & set(parts):
            raise InputError(
                f"model '{base}[{text}]': give distinct channels out of low, high, identity, or "
                "sum, or scalar"
            )
        return spec.with_options(channels=tuple(parts))


MODELS = ModelTable({**_paper_models(), **ZOO, **FIELD})
