"""A remark stands where a printed metric would be taken for another verdict, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from evidence import NO, gap, made, made_chance
from probed_graphs import blobs

from heterophily.data.catalog import load
from heterophily.data.graph import Graph
from heterophily.data.synthetic.toy import toy_graph
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.remarks import metric_remarks
from heterophily.diagnosis.shuffle import Shuffled
from heterophily.diagnosis.verdict import Evidence, judge
from heterophily.metrics.aggregation_similarity import aggregation_similarity, feature_similarity
from heterophily.metrics.catalog import METRICS, MetricValues

NONE = gap(0.0, NO)


def remarks(evidence: Evidence, graph: Graph | None = None, **values: float) -> list[str]:
    metrics = MetricValues(dict.fromkeys(METRICS, None) | values, {})
    return metric_remarks(graph or Graph.from_edges([0], [1]), metrics, judge(evidence))


def test_chance_in_label_informativeness_is_told_by_its_share() -> None:
    """T5: with few labelled edges the raw metric is far above what it means."""
    chance = made_chance(edges=12, tells=0.02, p_tells=0.4)
    (told,) = remarks(made(NONE, NONE, chance), label_informativeness=0.5)
    assert told.startswith("Label informativeness 0.500 is mostly chance")
    assert "(12): corrected it is 0.020" in told
    (told,) = remarks(made(gap(0.1), NONE, made_chance(0, 0.4)), label_informativeness=0.45)
    assert "is partly chance" in told
    assert remarks(made(gap(0.1), NONE, made_chance(0, 0.4)), label_informativeness=0.41) == []


@pytest.mark.parametrize(
    ("aggregated", "raw", "average", "words"),
    [
        (0.9, 0.7, gap(-0.2), "0.90 > S_agg(X) 0.70 suggests that averaging helps"),
        (0.7, 0.9, gap(0.2), "0.70 < S_agg(X) 0.90 suggests that averaging harms"),
    ],
)
def test_similarities_against_classifiers(aggregated, raw, average, words) -> None:
    values = {"aggregation_similarity": aggregated, "feature_similarity": raw}
    (told,) = remarks(made(gap(0.1), average), **values)
    assert words in told
    assert told.endswith("the verdict follows the classifiers.")


def test_similarities_that_agree_or_hardly_differ_need_no_remark() -> None:
    for aggregated, raw, average in (
        (0.9, 0.7, gap(0.2)),
        (0.71, 0.705, gap(-0.2)),
        (0.9, 0.7, NONE),
    ):
        values = {"aggregation_similarity": aggregated, "feature_similarity": raw}
        assert remarks(made(gap(0.1), average), **values) == []


def test_informative_edges_that_add_nothing_are_explained() -> None:
    (told,) = remarks(made(NONE, NONE, made_chance(0.0, 0.05)))
    assert "nothing that its own features do not tell as well" in told
    informed = Shuffled(0.5, 0.3, 0.01, 0.005)
    assert remarks(made(NONE, gap(-0.2), made_chance(), predicted=informed)) == []


def test_nothing_is_remarked_on_a_plain_homophilic_graph() -> None:
    found = diagnose(blobs(0.9, classes=2, noise=0.5), quick=True)
    assert found.notes == ("Quick: linear classifiers only; they may miss what trees would find.",)


def test_rows_that_sum_to_one_may_turn_the_similarities() -> None:
    """The remark stands exactly when the two orders differ; among these graphs both occur."""
    rng, options = (
        np.random.default_rng(0),
        {"normalize_features": True, "zero_rows": "inconsistent"},
    )
    turned = []
    for seed in range(8):
        graph = blobs(0.5, classes=3, seed=seed, nodes=90, edges=250)
        scale = np.exp(2 * rng.normal(size=(90, 1)))
        graph = graph.replace(features=scale * np.abs(graph.features))
        as_given = aggregation_similarity(graph) - feature_similarity(graph)
        by_rows = aggregation_similarity(graph, **options) - feature_similarity(graph, **options)
        notes = diagnose(graph, quick=True).notes
        turned.append(any("the order is reversed" in note for note in notes))
        assert turned[-1] == (as_given * by_rows < 0)
    assert len(set(turned)) == 2


def test_squirrel_names_the_order_of_the_paper(data_folder) -> None:
    """T14: 0.72 > 0.70 with rows that sum to 1, in the paper; 0.49 < 0.56 for features as given."""
    found = diagnose(load("squirrel", data_folder=data_folder), quick=True)
    assert found.metrics["aggregation_similarity"] < found.metrics["feature_similarity"]
    (told,) = [note for note in found.notes if "as in the paper's tables" in note]
    assert "0.49 and S_agg(X) 0.56" in told
    assert "they are 0.72 and 0.70: the order is reversed" in told


def test_classes_that_diversification_cannot_tell_apart_are_named() -> None:
    """The limitation of the paper's appendix, on its own example."""
    graph = toy_graph("diversification-fails")
    (told,) = remarks(made(NONE, NONE), graph)
    assert told.startswith(
        "Diversification (the high-pass channel) cannot tell class 1 from class 4"
    )
    assert "(and 1 more pair of classes)" in told
    assert remarks(made(NONE, NONE), toy_graph("diversification-helps")) == []
