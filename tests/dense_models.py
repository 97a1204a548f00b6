"""What the tests of models share: a small graph, and the comparison with a dense transcription."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from heterophily.data.graph import Graph
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS

N, F, C = 14, 9, 3
KEPT = 1.7  # what a dropout of the comparison multiplies by, so that its place shows


def small_graph(*, is_sparse: bool = True) -> Graph:
    """A graph with an isolated node and a node without features."""
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, N - 1, size=(2, 24))
    features = np.where(rng.random((N, F)) < 0.4, rng.normal(size=(N, F)), 0.0)
    features[3] = 0.0
    return Graph.from_edges(
        source,
        target,
        features=sp.csr_array(features) if is_sparse else features,
        labels=rng.integers(0, C, size=N),
        num_nodes=N,
    )


@dataclass(frozen=True)
class Dense:
    """What a transcription works with: dense float64 tensors and the model's parameters."""

    x: Tensor  # (N, F), rows normalised as the model wants them
    a: Tensor  # (N, N), no loops
    p: Mapping[str, Tensor]
    options: Any

    @property
    def eye(self) -> Tensor:
        return torch.eye(len(self.a), dtype=self.a.dtype)

    @property
    def symmetric(self) -> Tensor:
        return symmetric(self.a)

    @property
    def renormalized(self) -> Tensor:
        return symmetric(self.a + self.eye)

    def linear(self, signal: Tensor, name: str) -> Tensor:
        return signal @ self.p[f"{name}.weight"] + self.p.get(f"{name}.bias", 0.0)

    def mlp(self, signal: Tensor, name: str, *, input_factor: float = KEPT) -> Tensor:
        """Two linear maps with ReLU and dropout."""
        hidden = torch.relu(self.linear(input_factor * signal, f"{name}.maps.0"))
        return self.linear(KEPT * hidden, f"{name}.maps.1")


def symmetric(matrix: Tensor) -> Tensor:
    degree = matrix.sum(1)
    root = torch.where(degree > 0, degree.clamp(min=1e-300) ** -0.5, 0.0)
    return root[:, None] * matrix * root[None, :]


def random_walk(matrix: Tensor) -> Tensor:
    degree = matrix.sum(1, keepdim=True)
    return torch.where(degree > 0, matrix / degree.clamp(min=1), 0.0)


def build(name: str, graph: Graph, *, noise: float = 0.3, **options: Any):
    """Return spec, inputs and a float64 model whose every parameter is moved from its start."""
    spec = MODELS[name].with_options(
        **{"hidden": 5, "dropout": 0.5, "features": "counts", **options}
    )
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=torch.float64)
    torch.manual_seed(3)
    model = spec.build(
        num_nodes=graph.num_nodes, num_features=graph.num_features, num_classes=graph.num_classes
    ).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    return spec, inputs, model


def dense_of(graph: Graph, spec: Any, model: nn.Module) -> Dense:
    features = graph.features
    x = np.array(features.toarray() if sp.issparse(features) else features)
    if spec.inputs.row_normalize:
        sums = np.abs(x).sum(1, keepdims=True)
        x = x / np.where(sums > 0, sums, 1)
    return Dense(
        x=torch.from_numpy(x),
        a=torch.from_numpy(graph.adjacency.toarray().astype(float)),
        p=dict(model.named_parameters()),
        options=spec.options,
    )


def assert_equals_transcription(
    name: str, transcription: Callable[[Dense], Tensor], monkeypatch: Any, **options: Any
) -> None:
    """Logits and all gradients in training mode, sparse and dense features."""
    monkeypatch.setattr(
        "heterophily.layers.dropout._mask",
        lambda shape, rate, dtype: torch.full(shape, KEPT, dtype=dtype),
    )
    for is_sparse in (True, False):
        graph = small_graph(is_sparse=is_sparse)
        spec, inputs, model = build(name, graph, **options)
        logits = model(inputs)
        expected = transcription(dense_of(graph, spec, model))
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)
        pull = torch.randn(logits.shape, dtype=logits.dtype)
        parameters = list(model.parameters())
        found = torch.autograd.grad((logits * pull).sum(), parameters)
        wanted = torch.autograd.grad((expected * pull).sum(), parameters)
        for (title, _), one, other in zip(model.named_parameters(), found, wanted, strict=True):
            torch.testing.assert_close(
                one, other, rtol=1e-8, atol=1e-8, msg=lambda text, title=title: f"{title}: {text}"
            )
