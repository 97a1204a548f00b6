"""The declared figures on synthetic graphs and their cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heterophily.errors import InputError
from heterophily.studies.cost import RunClock
from heterophily.studies.study import Study
from heterophily.studies.synthetic import DEEP_MODELS, LINEAR_MODELS, SyntheticStudy
from heterophily.studies.synthetic_studies import declared, synthetic_cost

SMALL = SyntheticStudy(
    base="digits", levels=(0.1, 0.2, 0.4), graphs=2, nodes_per_class=20, search="small"
)


def test_the_declared_figures_are_those_of_the_paper() -> None:
    assert declared("synthetic-metrics") == (SyntheticStudy(),)
    models = declared("synthetic-models")
    assert len(models) == 6
    assert models[0].models == (*LINEAR_MODELS, *DEEP_MODELS)
    (regular,) = declared("regular")
    assert (regular.generator, regular.intra_degree) == ("regular", 10.0)
    assert (len(regular.levels), regular.levels[0], regular.levels[-1]) == (18, 0.05, 0.9)


def test_a_table_and_an_unknown_field_are_refused() -> None:
    with pytest.raises(InputError, match="ablation is not a study on synthetic graphs"):
        declared("ablation")
    odd = Study("odd", "Odd", command="c", synthetic={"bases": ["cora"], "nodes": 3})
    with pytest.raises(InputError, match=r"study odd, synthetic: .*'nodes'"):
        declared(odd)


def test_time_grows_with_the_edges_of_a_level() -> None:
    clock = RunClock()
    asked = []

    def seconds(model: str, graph: str, splits: str) -> float:
        return {"0.1": 13.0, "0.4": 4.0}[graph.rpartition("-")[2]]

    clock.measure = lambda *args: asked.append(args[1])  # type: ignore[method-assign]
    clock.seconds_per_run = seconds  # type: ignore[method-assign]
    cost = synthetic_cost([SMALL], clock)
    # 3 levels of 2 graphs; sgc-1 has 2 settings, gcn 4. One run takes 1 + 1.2 / level seconds.
    assert cost.runs == 3 * 2 * (2 + 4)
    assert cost.seconds == pytest.approx(2 * 6 * (13 + 7 + 4))
    assert asked == ["edge-homophily-digits-0.1", "edge-homophily-digits-0.4"]


def test_a_generated_graph_is_measured() -> None:
    cost = synthetic_cost([replace(SMALL, models=("sgc-1",))], RunClock(engine="auto"))
    assert cost.seconds is not None
    assert cost.seconds > 0
