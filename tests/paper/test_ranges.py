from __future__ import annotations

import pytest

from heterophily.errors import UnknownNameError
from heterophily.models.field import FIELD
from heterophily.models.zoo import ZOO
from heterophily.paper.ranges import own_space
from heterophily.search.space import check_settings, space_for

IN_THE_PAPER = {"h2gcn", "mixhop", "gcn+jk", "gat+jk", "fagcn", "graphsage"}


def check_every_value(model: str, name: str) -> None:
    space = space_for(name, model, "texas")
    assert len(space) > 1
    for key, values in space.values.items():
        for value in values:
            check_settings(model, {key: value}, where=name)


@pytest.mark.parametrize("model", ZOO)
def test_every_baseline_has_a_default_space_whose_values_it_accepts(model: str) -> None:
    check_every_value(model, "default")


@pytest.mark.parametrize("model", ZOO)
def test_a_baseline_has_the_papers_ranges_or_is_told_of_the_default_space(model: str) -> None:
    if model in IN_THE_PAPER:
        check_every_value(model, "paper")
        return
    with pytest.raises(UnknownNameError, match="for other models use --space default"):
        space_for("paper", model, "texas")


@pytest.mark.parametrize("model", FIELD)
def test_every_later_model_has_a_space_of_its_own_that_it_accepts_whole(model: str) -> None:
    declared = own_space(model)
    assert declared is not None
    space = space_for("default", model, "texas")
    assert {key: list(values) for key, values in space.values.items()} == declared
    assert len(space) <= 36
    check_every_value(model, "default")
