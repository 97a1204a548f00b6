from __future__ import annotations

import pytest

from heterophily.errors import InputError, UnknownNameError, lookup
from heterophily.models.catalog import MODELS
from heterophily.models.field import FIELD
from heterophily.models.zoo import ZOO

UNI_CHANNEL = ["mlp-1", "mlp-2", "sgc-1", "sgc-2", "gcn", "gcnii", "gcnii*"]
UNI_CHANNEL += ["snowball-2", "snowball-3"]
ACM = ["acm-sgc-1", "acm-sgc-2", "acm-gcn", "acmii-gcn", "acm-gcnii", "acm-gcnii*"]
ACM += ["acm-snowball-2", "acm-snowball-3", "acmii-snowball-2", "acmii-snowball-3"]
PLUS = ["acm-gcn+", "acmii-gcn+", "acm-gcn++", "acmii-gcn++"]
PAPER = UNI_CHANNEL + ACM + PLUS


def test_the_table_holds_the_models_of_the_paper_and_the_rows_of_table_1():
    names = list(MODELS)
    assert names[: len(PAPER)] == PAPER
    assert names[len(PAPER) : len(PAPER) + len(ZOO)] == list(ZOO)
    later = len(PAPER) + len(ZOO)
    assert names[later : later + len(FIELD)] == list(FIELD)
    rows = names[later + len(FIELD) :]
    assert len(rows) == 11  # 5 + 5 + 4, less the three full models
    assert "acmii-gcn[low,identity]" in rows
    assert "acmii-gcn[low]" not in rows


@pytest.mark.parametrize("name", ["acmii-gcnii", "acmii-gcnii*"])
def test_acmii_gcnii_is_refused_with_the_reason_of_the_paper(name):
    with pytest.raises(InputError, match="not filtered, so filter and activation cannot change"):
        MODELS[name]
    with pytest.raises(InputError, match="not filtered"):
        lookup(MODELS, "model", name)


def test_the_low_pass_rows_are_the_uni_channel_models():
    assert MODELS["acm-gcn[low]"] is MODELS["gcn"]
    assert MODELS["acm-sgc-1[low]"] is MODELS["sgc-1"]


def test_parts_in_brackets_choose_channels_or_leave_the_mixing_out():
    assert MODELS["acm-gcn[low,high]"].options.channels == ("low", "high")
    assert MODELS["acmii-gcn[low, identity]"].options.order == "activate-then-filter"
    assert MODELS["acm-gcn[sum]"].options.mixer == "sum"
    assert MODELS["acm-snowball-2[high,identity]"].options.channels == ("high", "identity")


@pytest.mark.parametrize("name", ["acm-gcn[low,low]", "acm-gcn[low,sum]", "acm-gcn[structure]"])
def test_parts_that_make_no_sense_are_refused(name):
    with pytest.raises(InputError, match="give distinct channels"):
        MODELS[name]


def test_unknown_names_say_what_is_near():
    with pytest.raises(UnknownNameError, match="did you mean 'acm-gcn'"):
        MODELS["acm-gnc"]
    with pytest.raises(UnknownNameError, match="unknown part of acm-gcn 'hgih'"):
        MODELS["acm-gcn[hgih]"]
    assert "acm-gnc" not in MODELS
    assert MODELS.get("no-such-model") is None


def test_sgc_2_filters_low_twice_and_high_once():
    low, high, identity = MODELS["acm-sgc-2"].options.channels
    assert low.hops == 2
    assert (high, identity) == ("high", "identity")
