import pytest

from heterophily.diagnosis.verdict import KINDS
from heterophily.errors import UnknownNameError
from heterophily.prediction.candidates import (
    FAMILIES,
    PLUS,
    RESIDUAL,
    Candidate,
    draw,
    families_for,
    has_node_weights,
    middle,
)

WITHOUT_EDGES = ("mlp-2", "trees")


def test_every_verdict_has_candidates():
    assert set(FAMILIES) == set(KINDS)
    with pytest.raises(UnknownNameError, match="unknown verdict 'fine'"):
        families_for("fine")


@pytest.mark.parametrize("kind", FAMILIES)
def test_inductive_candidates_have_no_weights_of_nodes_and_no_twins(kind):
    found = families_for(kind, inductive=True)
    assert not any(map(has_node_weights, found))
    assert len({Candidate(family, {}).spec for family in found}) == len(found)


def test_weights_of_nodes_are_found_by_building():
    found = {family.label: has_node_weights(family) for family in FAMILIES["harmless"]}
    assert found == {
        "acm-gcn+": True,
        "acmii-gcn+": True,
        "acm-gcn++": True,
        "acmii-gcn++": True,
        "acm-gcn": False,
        "glognn on A": True,
        "trees-channels": False,
    }


@pytest.mark.parametrize("kind", FAMILIES)
def test_each_setting_of_a_family_is_drawn_once_and_fits_its_model(kind):
    families = families_for(kind)
    drawn = {family: list(found) for family, found in draw(families, seed=0).items()}
    assert list(drawn) == list(families)
    for family, candidates in drawn.items():
        assert {str(c.settings) for c in candidates} == {str(s) for s in family.space}
        assert candidates[0].family is family
        assert candidates[0].spec
        for name, value in candidates[0].settings.items():
            parts = (candidates[0].config, candidates[0].spec.options, candidates[0].spec.inputs)
            assert value in [getattr(part, name) for part in parts if hasattr(part, name)]


@pytest.mark.parametrize("kind", FAMILIES)
def test_trees_that_see_the_graph_are_tried_under_every_verdict(kind):
    assert "trees-channels" in {family.model for family in families_for(kind, inductive=True)}


def test_trees_on_own_features_have_no_direction_of_edges():
    turned = [family.label for family in families_for("little", one_way=True)]
    assert "trees" in turned
    assert "trees-channels (edge_direction=reversed)" in turned
    assert "trees (edge_direction=reversed)" not in turned


def test_the_seed_decides_the_order_after_the_middle_setting():
    families = families_for("little")

    def order(seed):
        return [[str(c.settings) for c in found] for found in draw(families, seed=seed).values()]

    assert order(0) == order(0) != order(1)
    assert [found[0] for found in order(0)] == [str(middle(f.space)) for f in families]


def test_candidates_are_the_released_program():
    plus = Candidate(PLUS, {"lr": 0.05, "dropout": 0.2})
    assert (plus.spec.inputs.with_structure, plus.spec.inputs.row_normalize) == (True, False)
    assert (plus.config.lr, plus.spec.options.dropout) == (0.05, 0.2)
    residual = Candidate(RESIDUAL, {})
    assert (residual.spec.options.residual, residual.spec.options.mix_scale) == ("once", 3.0)


@pytest.mark.parametrize("kind", FAMILIES)
def test_one_way_edges_are_tried_in_every_direction_by_models_that_use_edges(kind):
    found = families_for(kind, one_way=True)
    plain = [family.model for family in families_for(kind)]
    turned = [model for model in plain if model not in WITHOUT_EDGES]
    assert [family.model for family in found] == [*plain, *turned, *turned]
    ways = [
        Candidate(f, {}).spec.inputs.edge_direction for f in found if f.model not in WITHOUT_EDGES
    ]
    assert ways == [way for way in ("both", "given", "reversed") for _ in turned]
    assert len({family.label for family in found}) == len(found)
    bases = [family for family in found[: len(plain)] if family.model not in WITHOUT_EDGES]
    assert [family.turn_of for family in found[len(plain) :]] == [*bases, *bases]
