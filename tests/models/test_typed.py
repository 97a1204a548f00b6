"""ACM on typed edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from heterophily.comparison.train import train
from heterophily.data.graph import Graph
from heterophily.data.splits import random_splits
from heterophily.data.synthetic.features import gaussian_base
from heterophily.data.synthetic.relations import relations_graph
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit


def _graph(homophily: dict[str, float], nodes: int = 40, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    features, labels = gaussian_base([nodes] * 3, rng=rng, num_features=6, separation=1.0)
    return relations_graph(
        homophily=homophily, edges=4 * nodes, features=features, labels=labels, rng=rng
    )


def _logits(spec: ModelSpec, graph: Graph, *, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    spec = spec.on(graph)
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=dtype)
    torch.manual_seed(0)
    network = spec.builder(inputs, num_classes=3)().to(dtype).eval()
    with torch.no_grad():
        logits: torch.Tensor = network(inputs)
    return logits


def _trained(model: str, graph: Graph) -> np.ndarray:
    spec = MODELS[model].on(graph)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    split = random_splits(graph.labels, repeats=1, seed=0)[0]
    result = fit(
        spec.builder(inputs, num_classes=3), inputs, graph.labels, split,
        TrainConfig(max_epochs=15), seed=0,
    )  # fmt: skip
    assert result.logits is not None
    return result.logits


@pytest.mark.parametrize("with_types", [True, False])
def test_with_one_type_it_is_acm_gcn_to_the_last_bit(with_types: bool) -> None:
    graph = _graph({"friend": 0.7})
    if not with_types:
        graph = graph.replace(edge_types=None)
    assert np.array_equal(_trained("typed-acm", graph), _trained("acm-gcn", graph))


@pytest.mark.parametrize("order", ["filter-then-activate", "activate-then-filter"])
def test_logits_follow_the_equations_of_two_types(order: str) -> None:
    graph = _graph({"friend": 0.8, "rival": 0.1}, nodes=8)
    spec = MODELS["typed-acm"].with_options(order=order, depth=1, row_normalize=False).on(graph)
    logits = _logits(spec, graph, dtype=torch.float64)
    torch.manual_seed(0)
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=torch.float64)
    layer = spec.builder(inputs, num_classes=3)().double().backbone.layers[0]  # type: ignore[union-attr,operator]
    weights, vectors = layer.weight.detach().numpy(), layer.mixer.vectors.detach().numpy()
    assert inputs.features is not None
    x = inputs.features.numpy()  # type: ignore[union-attr]
    eye = np.eye(graph.num_nodes)
    filters = []
    for kind in ("friend", "rival"):
        loops = graph.of_type(kind).adjacency.toarray() + eye
        walk = loops / loops.sum(1, keepdims=True)
        filters += [walk, eye - walk]
    channels = [
        np.maximum(f @ x @ w, 0) if order == "filter-then-activate" else f @ np.maximum(x @ w, 0)
        for f, w in zip([*filters, eye], weights, strict=True)
    ]
    scores = np.stack([(h @ v)[:, 0] for h, v in zip(channels, vectors, strict=True)], axis=1)
    mixed = (1 / (1 + np.exp(-scores))) / 5 @ layer.mixer.mix_weight.detach().numpy()
    alpha = np.exp(mixed) / np.exp(mixed).sum(1, keepdims=True)
    expected = sum(alpha[:, k : k + 1] * h for k, h in enumerate(channels))
    np.testing.assert_allclose(logits.numpy(), expected, atol=1e-12)


def test_a_type_without_edges_at_a_node_leaves_its_own_signal_and_no_difference() -> None:
    graph = Graph.from_edges(
        [0, 1], [1, 2], labels=[0, 1, 0], features=np.eye(3), edge_type=["a", "b"]
    )
    spec = MODELS["typed-acm"].on(graph)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    assert inputs.typed[1].matrix.to_scipy().toarray()[0].tolist() == [1.0, 0.0, 0.0]


def test_a_graph_with_an_unknown_type_or_without_types_is_refused() -> None:
    known = _graph({"friend": 0.8, "rival": 0.1})
    inputs = MODELS["typed-acm"].on(known).inputs
    with pytest.raises(InputError, match="edges of type 'enemy'; the types that the model knows"):
        GraphInputs.from_graph(_graph({"enemy": 0.5}), inputs)
    with pytest.raises(InputError, match="no types of edges"):
        GraphInputs.from_graph(known.replace(edge_types=None), inputs)


def test_a_known_type_that_a_new_graph_lacks_is_empty_there() -> None:
    inputs = MODELS["typed-acm"].on(_graph({"friend": 0.8, "rival": 0.1})).inputs
    prepared = GraphInputs.from_graph(_graph({"friend": 0.8}), inputs)
    assert prepared.typed[1].matrix.num_nonzeros == prepared.num_nodes


def test_channels_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="typed channels are"):
        MODELS["typed-acm"].with_options(channels=("low",))


def test_training_saving_and_predicting_name_the_channels_by_type(tmp_path: Path) -> None:
    from heterophily.prediction.build import calibrate_report, model_of_report, network_of
    from heterophily.prediction.folder import load_model, save_model
    from heterophily.prediction.predict import predict

    graph = _graph({"friend": 0.9, "rival": 0.0})
    config = TrainConfig(max_epochs=30)
    report = train("typed-acm", graph, repeats=1, config=config, keep_state=True)
    network = network_of(report, {}, config)
    trained = model_of_report(report, network, calibrate_report(report), seed=0)
    save_model(tmp_path / "model", trained)
    again = predict(load_model(tmp_path / "model"), graph)
    assert again.channel_names == (
        "low:friend", "high:friend", "low:rival", "high:rival", "identity"
    )  # fmt: skip
    np.testing.assert_allclose(again.probabilities, predict(trained, graph).probabilities)
    assert again.channel_weights is not None
    np.testing.assert_allclose(again.channel_weights.sum(1), 1.0, atol=1e-6)
