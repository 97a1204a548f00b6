import pytest

from heterophily.data.graph import Graph
from heterophily.diagnosis.probe_value import FROM_GRAPH
from heterophily.diagnosis.verdict import KINDS
from heterophily.errors import UnknownNameError
from heterophily.prediction.candidates import (
    Candidate,
    can_turn,
    draw,
    families_for,
    has_node_weights,
    in_order,
    uses_edges,
)
from heterophily.prediction.cost import WorkSize
from heterophily.prediction.families import (
    EXPECTED,
    FAMILIES,
    FAVOURITES,
    MLP,
    PLUS,
    RESIDUAL,
    TREES,
    TREES_LABELS,
)

SMALL = WorkSize(nodes=100, edges=400, features=20, values=2000, classes=3)
LARGE = WorkSize(nodes=100_000, edges=5_000_000, features=500, values=5_000_000, classes=5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_verdict_orders_the_families_and_leaves_none_out(kind):
    assert set(EXPECTED) == set(KINDS)
    for helpful in ("", "labels"):
        found = in_order(families_for(), kind, size=SMALL, seed=0, helpful=helpful)
        named = FAVOURITES.get((kind, helpful), FAVOURITES[kind, ""])
        opening = dict.fromkeys([*named, TREES, MLP])
        assert set(found) == set(FAMILIES)
        assert found[: len(named)] == named
        assert set(found[: len(opening)]) == set(opening)


def test_every_favourite_belongs_to_a_verdict_and_a_source_and_is_a_family():
    assert {kind for kind, _ in FAVOURITES} == set(KINDS)
    assert {helpful for _, helpful in FAVOURITES} <= {"", *FROM_GRAPH}
    assert all(family in FAMILIES for named in FAVOURITES.values() for family in named)


def test_with_little_time_the_favourite_that_fits_comes_first():
    def opening(total):
        how = {"size": LARGE, "seed": 0, "helpful": "labels", "total": total}
        return [f.label for f in in_order(families_for(), "harmful", **how)[:3]]

    seconds = {
        family.label: next(draw([family], seed=0, size=LARGE, total=30.0)[family]).seconds(LARGE)
        for family in (TREES_LABELS, PLUS)
    }
    assert seconds["trees-labels"] > seconds["acm-gcn+"]
    assert opening(1e6)[:2] == ["trees-labels", "acm-gcn+"]
    for total in (30.0, seconds["acm-gcn+"]):  # one fits into half of it, or none
        assert opening(total)[:2] == ["acm-gcn+", "trees-labels"]
    assert opening(30.0)[2] in ("trees", "mlp-2")


def test_where_the_direction_tells_the_favourites_come_in_every_direction_first():
    families = families_for(one_way=True)
    how = {"size": SMALL, "seed": 0, "helpful": "labels"}
    found = in_order(families, "harmful", direction_tells=True, **how)
    opening = [(f.model, f.options.get("edge_direction")) for f in found[:6]]
    ways = ["both", "given", "reversed"]
    assert opening == [(m, way) for m in ("trees-labels", "acm-gcn+") for way in ways]
    assert {f.model for f in found[6:9]} == {"dir-gcn", "dir-sage", "dir-acm"}
    later = in_order(families, "harmful", **how)
    assert set(later) == set(found)
    assert all(f.options.get("edge_direction") == "both" for f in later[:2])
    assert {f.model for f in later[2:4]} == {"trees", "mlp-2"}


def test_an_unknown_verdict_is_one_sentence():
    with pytest.raises(UnknownNameError, match="unknown verdict 'fine'"):
        in_order(families_for(), "fine", size=SMALL, seed=0)


def test_cheap_families_have_their_first_chance_before_expensive_ones():
    found = [family.label for family in in_order(families_for(), "little", size=LARGE, seed=0)]
    assert found.index("label-propagation") < found.index("res-gcn") < found.index("gat-sep")


def test_inductive_candidates_keep_nothing_of_nodes_and_have_no_twins():
    found = families_for(inductive=True)
    assert not any(map(has_node_weights, found))
    assert len({Candidate(family, {}).spec for family in found}) == len(found)
    assert {"trees", "trees-channels", "acm-gcn", "res-sage"} <= {f.model for f in found}


def test_weights_and_labels_of_nodes_are_found_by_building():
    bound = {family.label for family in FAMILIES if has_node_weights(family)}
    assert {"acm-gcn+", "acmii-gcn++", "linkx", "glognn on A"} <= bound
    assert {"trees-labels", "label-propagation", "correct-and-smooth"} <= bound
    assert not {"acm-gcn", "trees-channels", "res-gcn", "mlp-2"} & bound


def test_each_setting_of_a_family_is_drawn_once_and_fits_its_model():
    drawn = {family: list(found) for family, found in draw(FAMILIES, seed=0).items()}
    assert list(drawn) == list(FAMILIES)
    for family, candidates in drawn.items():
        texts = [str(c.settings) for c in candidates]
        assert len(set(texts)) == len(texts) >= len(family.portfolio.first)
        assert texts[: len(family.portfolio.first)] == [str(s) for s in family.portfolio.first]
        for candidate in candidates:
            parts = (candidate.config, candidate.spec.options, candidate.spec.inputs)
            for name, value in candidate.settings.items():
                assert value in [getattr(part, name) for part in parts if hasattr(part, name)]


def test_the_seed_decides_the_order_after_the_strong_settings():
    def order(seed):
        return [[str(c.settings) for c in found] for found in draw(FAMILIES, seed=seed).values()]

    assert order(0) == order(0) != order(1)


def test_on_a_large_graph_an_expensive_family_begins_with_a_short_training():
    first = {
        size: next(draw([family], seed=0, size=size)[family])
        for size in (SMALL, LARGE)
        for family in FAMILIES
        if family.label == "res-gcn"
    }
    assert "max_epochs" not in first[SMALL].settings
    assert first[LARGE].config.max_epochs < 200
    assert first[LARGE].seconds(LARGE) > first[SMALL].seconds(SMALL)


def test_without_features_models_that_see_nothing_else_are_left_out():
    found = families_for(has_features=False)
    assert all(map(uses_edges, found))
    assert "trees-labels" in {family.model for family in found}


def test_models_on_raw_counts_are_for_counts():
    labels = {family.label for family in families_for(features="numbers")}
    assert not {"acm-gcn on raw X", "mlp-2 on raw X"} & labels
    assert {"acm-gcn on raw X", "mlp-2 on raw X"} <= {f.label for f in families_for()}


def test_candidates_are_the_released_program():
    plus = Candidate(PLUS, {"lr": 0.05, "dropout": 0.2})
    assert (plus.spec.inputs.with_structure, plus.spec.inputs.row_normalize) == (True, False)
    assert (plus.config.lr, plus.spec.options.dropout) == (0.05, 0.2)
    residual = Candidate(RESIDUAL, {})
    assert (residual.spec.options.residual, residual.spec.options.mix_scale) == ("once", 3.0)


def test_scouts_try_one_way_edges_in_every_direction():
    found = families_for(one_way=True)
    scouts = [family for family in FAMILIES if family.is_scout]
    turned = [family for family in found if family.turn_of is not None]
    assert sorted(f.model for f in turned) == sorted(2 * [f.model for f in scouts])
    assert {f.options["edge_direction"] for f in turned} == {"given", "reversed"}
    assert {"dir-gcn", "dir-sage", "dir-acm"} <= {family.model for family in found}
    assert len({family.label for family in found}) == len(found)
    for family in found:
        if family.turn_of is None:
            way = family.options.get("edge_direction")
            assert way == ("both" if can_turn(family) else None)
    assert not can_turn(TREES)


def test_the_size_of_a_graph_without_features_is_that_of_its_indicators():
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0])
    assert WorkSize.of(graph) == WorkSize(nodes=3, edges=4, features=3, values=3, classes=2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_turn_before_a_second_of_the_same_kind(kind):
    favourites = len({*FAVOURITES[kind, ""], TREES, MLP})
    found = in_order(families_for(has_types=True), kind, size=SMALL, seed=0)[favourites:]
    kinds = list(dict.fromkeys(f.kind for f in families_for(has_types=True) if f.kind != "own"))
    seen = {family.kind for family in found[: len(kinds) + 1]}
    assert seen | {family.kind for family in FAVOURITES[kind, ""]} >= set(kinds)


def test_models_for_types_of_edges_are_for_graphs_that_have_them():
    models = {family.model for family in families_for(has_types=True)}
    assert {"typed-acm", "typed-trees"} <= models
    assert not {"typed-acm", "typed-trees"} & {family.model for family in families_for()}


def test_without_edges_models_of_a_graph_are_left_out():
    found = families_for(has_edges=False)
    assert found
    assert not any(map(uses_edges, found))
    assert not families_for(has_edges=False, has_features=False)
