from __future__ import annotations

import pytest

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def test_options_of_network_and_inputs_are_changed_by_name():
    spec = MODELS["acm-gcn+"].with_options(layers=3, row_normalize=False, with_structure=False)
    assert spec.options.depth == 3
    assert not spec.options.with_structure
    assert not spec.inputs.with_structure
    assert not spec.inputs.row_normalize
    assert MODELS["acm-gcn+"].options.depth == 2


def test_an_unknown_option_is_refused_with_the_list_of_known_ones():
    with pytest.raises(InputError, match=r"unknown option 'lambda'.*hidden, dropout.*renormalize"):
        MODELS["acm-gcn"].with_options(**{"lambda": 0.5})
    assert not MODELS["acm-gcn"].accepts("lambda")
    assert MODELS["gcnii"].accepts("lambda")
    assert MODELS["gcnii"].accepts("layers")


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("acm-gcn", {"hidden": 0}, "hidden=0"),
        ("acm-gcn", {"hidden": 2.5}, "whole number"),
        ("acm-gcn", {"dropout": 1.0}, "below 1"),
        ("acm-gcn", {"input_dropout": -1.0}, "input_dropout=-1.0"),
        ("acm-gcn", {"order": "acm"}, "filter-then-activate or activate-then-filter"),
        ("acm-gcn", {"mixer": "mean"}, "adaptive, scalar, sum"),
        ("acm-gcn", {"mix_features": "all"}, "raw, combined"),
        ("acm-gcn", {"temperature": -1.0}, "above 0"),
        ("acm-gcn", {"initialization": "he"}, "fan-out, glorot"),
        ("acm-gcn", {"use_layer_norm": 1}, "True or False"),
        ("acm-gcn", {"depth": 0}, "depth=0"),
        ("acm-gcn", {"residual": "all"}, "none, every-layer, once"),
        ("acm-gcn", {"residual": "once", "depth": 1}, "depth >= 2"),
        ("gcnii", {"alpha_l": 2.0}, "between 0 and 1"),
        ("gcnii", {"lambda": 0.0}, "lambda=0.0"),
        ("gcnii", {"with_structure": True}, "no structure channel"),
    ],
)
def test_a_bad_value_is_refused_when_the_options_are_made(name, changes, message):
    with pytest.raises(InputError, match=message):
        MODELS[name].with_options(**changes)
