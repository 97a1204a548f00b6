"""Variants are values."""

from __future__ import annotations

from heterophily.metrics.variants import (
    CLEAN,
    DATASETS,
    DIRECTED,
    LOOPS_KEPT,
    GraphVariant,
    Variant,
    estimate_variant,
    paper_variant,
)


def test_the_six_directed_datasets_have_their_own_reading() -> None:
    assert paper_variant("edge_homophily", "cora") == Variant(CLEAN)
    assert paper_variant("edge_homophily", "film").options == {"self_loops": "every-node"}
    assert paper_variant("class_homophily", "squirrel") == Variant(DIRECTED)


def test_unlabelled_nodes_of_citeseer_are_class_5_for_edges_and_0_after_aggregation() -> None:
    assert paper_variant("edge_homophily", "citeseer").graph == GraphVariant(fill_unlabelled=5)
    assert paper_variant("aggregation_homophily", "citeseer").graph == GraphVariant(
        self_loops="keep", fill_unlabelled=0
    )


def test_ties_count_in_estimates_of_film() -> None:
    assert paper_variant("aggregation_homophily", "film").options == {"ties": "inconsistent"}
    assert estimate_variant("aggregation_homophily", "film") == Variant(LOOPS_KEPT, {})


def test_the_paper_has_ten_datasets() -> None:
    assert len(set(DATASETS)) == 10
