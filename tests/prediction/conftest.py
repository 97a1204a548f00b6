"""Models trained on the small graph, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from prediction.quick import QUICK, make_graph

from heterophily.comparison.train import train
from heterophily.data.graph import Graph
from heterophily.prediction.auto import AutoResult, auto
from heterophily.prediction.build import calibrate_report, model_of_report, network_of
from heterophily.prediction.model import TrainedModel
from heterophily.training.config import TrainConfig


@pytest.fixture(scope="session")
def graph() -> Graph:
    return make_graph()


@pytest.fixture(scope="session")
def chosen(graph: Graph) -> AutoResult:
    return auto(graph, **QUICK)


@pytest.fixture(scope="session")
def trained(graph: Graph) -> Callable[..., TrainedModel]:
    """Train a model of the table on two splits, once for each name."""
    known: dict[Any, TrainedModel] = {}

    def get(name: str = "acm-gcn", on: Graph | None = None, **options: Any) -> TrainedModel:
        given = on or graph
        key = (name, given.content_hash, str(options))
        if key not in known:
            config = TrainConfig(max_epochs=8)
            options = {"hidden": 8, **options}
            report = train(name, given, repeats=2, options=options, config=config, workers=1)
            network = network_of(report, options, config)
            known[key] = model_of_report(report, network, calibrate_report(report), seed=0)
        return known[key]

    return get
