"""The synthetic graph of the playground: a few sliders, a graph, all metrics. No torch here."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from heterophily.data.graph import Graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.synthetic.features import gaussian_base
from heterophily.metrics.catalog import compute_metrics

NUM_FEATURES = 16
SEPARATION = 2.0
MODELS = ("mlp-2", "gcn", "acm-gcn")
REPEATS = 5
MAX_POINTS = 21


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number as JSON has it: 3 and 3.0 are the same."""


class Sliders(BaseModel):
    """What the sliders say. Bounds keep every graph small enough to be drawn and trained live."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    homophily: float = Field(0.2, ge=0, le=1, description="Share of edges within a class")
    classes: Whole = Field(3, ge=2, le=8)
    degree: Whole = Field(6, ge=1, le=20, description="Mean degree")
    noise: float = Field(1.0, ge=0.1, le=5, description="Standard deviation of the features")
    nodes: Whole = Field(240, ge=60, le=600)
    seed: Whole = Field(0, ge=0, le=1_000_000)


def synthetic_graph(sliders: Sliders, *, homophily: float | None = None) -> Graph:
    r"""Draw the graph of the sliders, with another homophily if one is given.

    Features of a node of class c are :math:`N(\mu_c, \sigma^2 I)` in 16 dimensions with
    orthogonal :math:`\mu_c` of length 2. With the same seed they do not depend on homophily: the
    points of a sweep differ in their edges only.

    >>> synthetic_graph(Sliders(nodes=60, classes=3, degree=4))
    Graph('playground', nodes=60, edges=120, features=16, classes=3)
    """
    sizes = [len(part) for part in np.array_split(np.arange(sliders.nodes), sliders.classes)]
    features, labels = gaussian_base(
        sizes,
        rng=np.random.default_rng(sliders.seed),
        num_features=NUM_FEATURES,
        separation=SEPARATION / sliders.noise,
    )
    return edge_homophily_graph(
        homophily=sliders.homophily if homophily is None else homophily,
        edges=round(sliders.nodes * sliders.degree / 2),
        features=sliders.noise * features,
        labels=labels,
        rng=np.random.default_rng([sliders.seed, 1]),
        name="playground",
    )


def picture(graph: Graph) -> dict[str, Any]:
    """Return what is drawn and shown of a graph: labels, each edge once, metrics."""
    source, target = graph.adjacency.nonzero()
    once = source < target
    metrics = compute_metrics(graph)
    return {
        "labels": graph.labels.tolist(),
        "edges": np.stack([source[once], target[once]], axis=1).tolist(),
        "metrics": metrics.values,
        "reasons": metrics.reasons,
    }
