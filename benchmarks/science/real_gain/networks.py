"""Networks of the package as variants: which model, which input, which settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from heterophily.comparison.train import train
from heterophily.data.graph import Graph
from heterophily.data.splits import Split, SplitBatch
from heterophily.layers.inputs import GraphInputs
from heterophily.runs.model import spec_with
from heterophily.training.config import TrainConfig
from real_gain.graphs import Plan, is_dense, standardized

WITHOUT_GRAPH = "mlp-2"
WITH_GRAPH = ("gcn", "acm-gcn", "acmii-gcn+", "acm-gcn++", "linkx", "glognn")


@dataclass(frozen=True, slots=True)
class Network:
    """One model with one input (row-normalised, raw or standardised features) and setting."""

    model: str
    features: str  # "rows", "raw" or "standardized"
    lr: float
    weight_decay: float
    max_epochs: int

    @property
    def name(self) -> str:
        """Name of the variant in the records."""
        return f"{self.model} {self.features} lr={self.lr} wd={self.weight_decay}"

    @property
    def uses_graph(self) -> bool:
        """Whether the model looks at edges."""
        return self.model != WITHOUT_GRAPH

    def probabilities(self, graph: Graph, split: Split, number: int) -> NDArray[np.float64]:
        """Train on a split and return the probability of each class, (N, C)."""
        used = standardized(graph) if self.features == "standardized" else graph
        options = {"row_normalize": self.features == "rows"}
        config = TrainConfig(lr=self.lr, weight_decay=self.weight_decay, max_epochs=self.max_epochs)
        report = train(
            self.model,
            used,
            splits=SplitBatch.stack([split]),
            repeats=1,
            seed=number,
            options=options,
            config=config,
            workers=1,
        )
        result = next(iter(report.results))
        spec = spec_with(self.model, options)
        inputs = GraphInputs.from_graph(used, spec.inputs)
        network = spec.builder(inputs, num_classes=graph.num_classes)()
        network.load_state_dict(result.state)
        network.eval()
        with torch.no_grad():
            return torch.softmax(network(inputs), dim=1).double().numpy()


def networks(graph: Graph, plan: Plan, skip: set[str]) -> Iterator[Network]:
    """Return the variants for a graph; models in ``skip`` have records elsewhere."""
    inputs = ("rows", "standardized", "raw") if is_dense(graph) else ("rows", "raw")
    for features in inputs:
        for lr in plan.learning_rates:
            for decay in plan.weight_decays:
                yield Network(WITHOUT_GRAPH, features, lr, decay, plan.max_epochs)
    for model in WITH_GRAPH:
        if model in skip:
            continue
        for features in inputs:
            for decay in plan.network_decays:
                yield Network(model, features, 0.01, decay, plan.max_epochs)
