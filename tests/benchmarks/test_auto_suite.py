"""The suite of ``auto``: its graphs, its halves, its records."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks" / "science"
NAMES = (
    "made-tiny-class", "made-dating", "made-dating-bare", "made-typed", "made-noise-edges",
    "made-fraud", "made-twenty", "made-one-percent",
)  # fmt: skip


@pytest.fixture(scope="module")
def suite() -> Iterator[SimpleNamespace]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    parts = {name: importlib.import_module(name) for name in ("auto_graphs", "auto_suite")}
    yield SimpleNamespace(**parts)
    monkeypatch.undo()


def test_the_suite_has_two_dozen_graphs_in_two_halves(suite: SimpleNamespace) -> None:
    graphs = suite.auto_graphs
    assert tuple(graphs.MADE) == NAMES
    assert len(graphs.GRAPHS) == len(set(graphs.GRAPHS)) >= 24
    assert 0.3 < np.mean([graphs.is_measured(name) for name in graphs.REAL]) < 0.7


@pytest.mark.parametrize("name", NAMES)
def test_a_generated_graph_follows_from_its_seed(suite: SimpleNamespace, name: str) -> None:
    first, again, other = (suite.auto_graphs.task(name, seed=seed) for seed in (0, 0, 1))
    assert first.graph.content_hash == again.graph.content_hash != other.graph.content_hash
    for split in first.splits:
        assert min(split.sizes) >= 25
        assert np.unique(first.graph.labels[split.train]).size >= 2


def test_files_of_contestants_do_not_collide(suite: SimpleNamespace) -> None:
    names = ["auto", "acm-gcn", "acm-gcn+", "acm-gcn++ (with_structure=False)", "acm-gcn++"]
    assert len({suite.auto_suite.record_file("cora", name) for name in names}) == len(names)


def test_the_time_to_a_good_answer_is_a_share_of_the_budget(suite: SimpleNamespace) -> None:
    record = {"validation": 0.8, "budget": 60.0, "curve": [[6.0, 0.5], [12.0, 0.795], [50.0, 0.8]]}
    assert suite.auto_suite._reaches(record) == 0.2


def test_the_goals_are_counted_on_graphs_that_can_tell(suite: SimpleNamespace) -> None:
    def record(test: float, **more: object) -> dict[str, object]:
        common = {"graph": "cora", "error": 0.02, "trees": 0.6, "largest_class": 0.5}
        late = {"validation": 0.8, "budget": 30.0, "curve": [[29.0, 0.8]]}
        return {**common, **late, "test": test, **more}

    goals = suite.auto_suite.goals
    families = dict.fromkeys(suite.auto_suite.ALONE, record(0.7))
    good = {"auto": record(0.695), **families}
    chance = {"auto": record(0.51), **families}
    alone = {"auto": record(0.9, graph="tolokers", curve=[[9.0, 0.8]])}
    lines = "\n".join(goals([good, chance, alone]))
    assert "(goal: 90 %): 1 of 2 graphs" in lines
    assert "standard error (goal: all): 2 of 3" in lines
    assert "(goal: none): 1 of 2" in lines
    assert "(goal: 18 graphs): 1 of 3" in lines
    assert "Mean rank on 2 graphs with all families (goal: auto first): trees 3.50" in lines
    assert "auto 7.00" in lines
    assert "tolokers: 90.00 (goal: 84.50)." in lines
    assert "minesweeper: not run" in lines
