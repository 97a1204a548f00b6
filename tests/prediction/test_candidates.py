import itertools

import pytest

from heterophily.diagnosis.verdict import KINDS
from heterophily.errors import UnknownNameError
from heterophily.prediction.candidates import (
    FAMILIES,
    PLUS,
    RESIDUAL,
    SPACE,
    Candidate,
    draw,
    families_for,
    has_structure,
)


def test_every_verdict_has_candidates():
    assert set(FAMILIES) == set(KINDS)
    with pytest.raises(UnknownNameError, match="unknown verdict 'fine'"):
        families_for("fine")


@pytest.mark.parametrize("kind", FAMILIES)
def test_inductive_candidates_have_no_structure_channel_and_no_twins(kind):
    found = families_for(kind, inductive=True)
    assert not any(map(has_structure, found))
    assert len({Candidate(family, {}).spec for family in found}) == len(found)


def test_each_setting_is_drawn_once_and_families_take_turns():
    families = families_for("harmful")
    drawn = list(draw(families, seed=0))
    assert len(drawn) == len(families) * len(SPACE)
    assert [c.family for c in drawn[: len(families)]] == list(families)
    pairs = {(c.family.label, str(c.settings)) for c in drawn}
    assert len(pairs) == len(drawn)


def test_the_seed_decides_the_order():
    families = families_for("little")

    def first(seed):
        return [str(c.settings) for c in itertools.islice(draw(families, seed=seed), 10)]

    assert first(0) == first(0) != first(1)


def test_candidates_are_the_released_program():
    plus = Candidate(PLUS, {"lr": 0.05, "dropout": 0.2})
    assert (plus.spec.inputs.with_structure, plus.spec.inputs.row_normalize) == (True, False)
    assert (plus.config.lr, plus.spec.options.dropout) == (0.05, 0.2)
    residual = Candidate(RESIDUAL, {})
    assert (residual.spec.options.residual, residual.spec.options.mix_scale) == ("once", 3.0)
