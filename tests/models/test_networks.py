"""The ACM family against a dense transcription of the paper, line by line, in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import heterophily.layers.dropout as dropout_module
from heterophily.data.graph import Graph
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.field import FIELD
from heterophily.models.options import GcniiOptions, SnowballOptions
from heterophily.models.zoo import ZOO

N, F, C, HIDDEN = 14, 9, 3, 5
KEPT = 1.7  # what a dropout of this test multiplies by, so that its place shows in the result

VARIANTS = [
    *[(name, {}) for name in MODELS if name not in {**ZOO, **FIELD}],
    ("acm-gcn", {"mix_scale": 3.0}),
    ("acm-gcn", {"use_mix_weight": False}),
    ("acm-gcn", {"mix_features": "combined"}),
    ("acmii-gcn", {"mix_features": "combined", "use_layer_norm": True, "use_mix_weight": False}),
    ("acm-gcn", {"temperature": 0.5, "depth": 3}),
    ("acm-gcn", {"hidden": 70}),  # wider than a block: channels are multiplied one by one
    ("acm-gcn", {"normalization": "symmetric"}),
    ("acmii-gcn", {"renormalize": False, "row_normalize": False}),
    ("acm-gcn", {"output_relu": True, "input_dropout": 0.0}),
    ("acm-gcn+", {"with_structure": False}),
    ("acm-gcn+", {"use_layer_norm": False, "row_normalize": False}),
    ("acm-gcn++", {"residual": "once", "residual_bias": True, "mix_scale": 3.0}),
    ("acmii-gcn++", {"with_structure": False, "depth": 3}),
    ("acmii-gcn++", {"residual": "once", "depth": 3}),
    ("gcnii", {"lambda": 1.5, "alpha_l": 0.4, "layers": 2}),
    ("acm-gcnii*", {"lambda": 1.0, "alpha_l": 0.3, "layers": 1, "mix_scale": 3.0}),
]


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, N - 1, size=(2, 30))  # the last node is isolated
    features = np.where(rng.random((N, F)) < 0.4, rng.normal(size=(N, F)), 0.0)
    features[3] = 0.0
    return Graph.from_edges(
        source, target, features=features, labels=rng.integers(0, C, size=N), num_nodes=N
    )


# --- the transcription --------------------------------------------------------------------------


def dense_operator(graph, inputs):
    adjacency = graph.adjacency.toarray().astype(float)
    tilde = adjacency + np.eye(N) if inputs.renormalize else adjacency
    degree = tilde.sum(1)
    inverse = np.where(degree > 0, 1 / np.where(degree > 0, degree, 1), 0)
    if inputs.normalization == "random-walk":
        operator = np.diag(inverse) @ tilde
    else:
        operator = np.diag(inverse**0.5) @ tilde @ np.diag(inverse**0.5)
    return torch.from_numpy(operator), torch.from_numpy(adjacency)


def dense_features(graph, inputs):
    features = np.array(graph.features)
    if inputs.row_normalize:
        sums = np.abs(features).sum(1, keepdims=True)
        features = features / np.where(sums > 0, sums, 1)
    return torch.from_numpy(features)


def dense_filters(options, operator):
    eye = torch.eye(N, dtype=torch.float64)
    found = {"low": operator, "high": eye - operator, "identity": eye, "structure": eye}
    return [
        found[name] if isinstance(name, str) else torch.matrix_power(operator, name.hops)
        for name in options.layer_channels
    ]


def dense_mixture(channels, p, prefix, options):
    count = len(channels)
    if options.mixer == "sum":
        return sum(channels), None
    seen = channels
    if options.use_layer_norm:
        gain, shift = p[f"{prefix}.mixer.norm_gain"], p[f"{prefix}.mixer.norm_shift"]
        seen = []
        for k, h in enumerate(channels):
            centred = h - h.mean(1, keepdim=True)
            std = ((centred**2).mean(1, keepdim=True) + 1e-5) ** 0.5
            seen.append(centred / std * gain[k] + shift[k])
    vectors = p[f"{prefix}.mixer.vectors"]
    if options.mix_features == "combined":
        combined = torch.cat(list(seen), 1)
        weights = vectors.reshape(-1, count)
        tilde = [torch.sigmoid(combined @ weights[:, k]) for k in range(count)]
    else:
        tilde = [torch.sigmoid(h @ vectors[k, :, 0]) for k, h in enumerate(seen)]
    temperature = options.temperature or count
    logits = torch.stack(tilde, 1) / temperature
    if options.use_mix_weight:
        logits = logits @ p[f"{prefix}.mixer.mix_weight"]
    alpha = torch.exp(logits) / torch.exp(logits).sum(1, keepdim=True)
    mixture = sum(torch.diag(alpha[:, k]) @ channels[k] for k in range(count))
    return options.mix_scale * mixture, alpha


def dense_layer(hidden, p, prefix, options, operator, adjacency, *, is_output, alphas):
    weight = p[f"{prefix}.weight"]
    activation = torch.relu if (options.activate_output or not is_output) else lambda h: h
    channels = []
    for k, filter_ in enumerate(dense_filters(options, operator)):
        if options.layer_channels[k] == "structure":
            channels.append(activation(adjacency @ p[f"{prefix}.structure_weight"]))
        elif options.order == "filter-then-activate":
            channels.append(activation(filter_ @ hidden @ weight[k]))
        else:
            channels.append(filter_ @ activation(hidden @ weight[k]))
    mixture, alpha = dense_mixture(channels, p, prefix, options)
    alphas.append(alpha)
    return mixture


def dense_stack(x, p, options, operator, adjacency, drop, alphas):
    def residual(name):
        product = x_dropped @ p[f"backbone.{name}.weight"]
        return torch.relu(product + p.get(f"backbone.{name}.bias", 0.0))

    x_dropped = x if options.input_dropout == 0 else drop(x)
    hidden = x_dropped
    for layer in range(options.depth):
        is_output = layer == options.depth - 1
        output = dense_layer(
            hidden, p, f"backbone.layers.{layer}", options, operator, adjacency,
            is_output=is_output, alphas=alphas,
        )  # fmt: skip
        if is_output:
            break
        output = torch.relu(output)
        if options.residual == "every-layer":
            hidden = drop(output + residual("hidden_residual"))
        elif options.residual == "once" and layer == 0:
            hidden = drop(output) + drop(residual("hidden_residual"))
        else:
            hidden = drop(output)
    if options.output_relu:
        output = torch.relu(output)
    return output + residual("output_residual") if options.residual == "every-layer" else output


def dense_snowball(x, p, options, operator, adjacency, drop, alphas):
    blocks = [drop(x)]
    for layer in range(options.depth):
        output = dense_layer(
            torch.cat(blocks, 1), p, f"backbone.layers.{layer}", options, operator, adjacency,
            is_output=False, alphas=alphas,
        )  # fmt: skip
        blocks.append(drop(torch.relu(output)))
    return dense_layer(
        torch.cat(blocks, 1), p, "backbone.output", options, operator, adjacency,
        is_output=True, alphas=alphas,
    )  # fmt: skip


def dense_gcnii(x, p, options, operator, adjacency, drop, alphas):
    eye = torch.eye(options.hidden, dtype=torch.float64)
    initial = torch.relu(drop(x) @ p["backbone.input.weight"] + p["backbone.input.bias"])
    hidden, a = drop(initial), options.alpha_l
    for layer in range(options.depth):
        prefix = f"backbone.layers.{layer}"
        b = math.log(options.lambda_ / (layer + 1) + 1)
        channels = []
        for k, filter_ in enumerate(dense_filters(options, operator)):
            w1 = (1 - b) * eye + b * p[f"{prefix}.weight"][k]
            if options.is_star:
                w2 = (1 - b) * eye + b * p[f"{prefix}.initial_weight"][k]
                output = (1 - a) * filter_ @ hidden @ w1 + a * initial @ w2
            else:
                output = ((1 - a) * filter_ @ hidden + a * initial) @ w1
            channels.append(torch.relu(output))
        mixture, alpha = dense_mixture(channels, p, prefix, options)
        alphas.append(alpha)
        hidden = drop(torch.relu(mixture))
    return hidden @ p["backbone.output.weight"] + p["backbone.output.bias"]


def transcription(options):
    if isinstance(options, GcniiOptions):
        return dense_gcnii
    return dense_snowball if isinstance(options, SnowballOptions) else dense_stack


# --- the comparison -----------------------------------------------------------------------------


def build(name, changes, graph):
    given = {"hidden": HIDDEN, "dropout": 0.5, "features": "counts", **changes}
    spec = MODELS[name].with_options(**given)
    inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=torch.float64)
    torch.manual_seed(3)
    model = spec.build(num_nodes=N, num_features=F, num_classes=C).double()
    with torch.no_grad():  # gains, shifts and biases that are not trivial
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return spec, inputs, model


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=str)
@pytest.mark.parametrize("is_sparse", [True, False], ids=["sparse", "dense"])
def test_outputs_gradients_and_weights_equal_the_dense_transcription(
    graph, name, changes, is_sparse, monkeypatch
):
    if is_sparse:
        graph = graph.replace(features=sp.csr_array(graph.features))
    spec, inputs, model = build(name, changes, graph)
    monkeypatch.setattr(
        dropout_module, "_mask", lambda shape, rate, dtype: torch.full(shape, KEPT, dtype=dtype)
    )
    alphas: list[torch.Tensor | None] = []
    operator, adjacency = dense_operator(graph, spec.inputs)
    dense = graph.replace(features=graph.features.toarray()) if is_sparse else graph
    expected = transcription(spec.options)(
        dense_features(dense, spec.inputs),
        dict(model.named_parameters()),
        spec.options,
        operator,
        adjacency,
        lambda h: KEPT * h,
        alphas,
    )
    logits, weights = model(inputs, return_weights=True)
    torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-10)
    if spec.options.mixer == "adaptive":
        torch.testing.assert_close(weights, tuple(alphas), rtol=1e-10, atol=1e-10)
    else:
        assert weights == ()

    pull = torch.randn(N, C, dtype=torch.float64)
    parameters = list(model.parameters())
    found = torch.autograd.grad((logits * pull).sum(), parameters)
    wanted = torch.autograd.grad((expected * pull).sum(), parameters)
    for (title, _), one, other in zip(model.named_parameters(), found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10, msg=f"{name}: {title}")


@pytest.mark.parametrize("name", ["acm-gcn", "acmii-gcn++", "acm-snowball-2", "acm-gcnii*"])
def test_float32_agrees_with_the_transcription_to_five_places(graph, name):
    spec, inputs, model = build(name, {"dropout": 0.0}, graph)
    logits = model(inputs)
    single = model.float()
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    torch.testing.assert_close(single(inputs).double(), logits, rtol=1e-5, atol=1e-5)


def test_channel_weights_are_those_without_dropout_and_leave_the_mode_alone(graph):
    _, inputs, model = build("acm-gcn", {"dropout": 0.9}, graph)
    first, second = model.channel_weights(inputs), model.channel_weights(inputs)
    assert model.training
    assert len(first) == 2
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
        torch.testing.assert_close(one.sum(1), torch.ones(N, dtype=torch.float64))


def test_acm_and_acmii_are_the_same_without_nonlinearity(graph):
    _, inputs, model = build("acm-sgc-1", {"dropout": 0.0}, graph)
    _, _, twin = build("acm-sgc-1", {"dropout": 0.0, "order": "activate-then-filter"}, graph)
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(inputs), twin(inputs))


def test_the_layer_has_the_number_of_parameters_of_the_corrected_formula(graph):
    """3 F_l (F_{l-1} + 1) + 9 for three channels; the paper prints the two widths exchanged."""
    _, _, model = build("acm-gcn", {}, graph)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in model.backbone.layers]
    assert counts == [3 * HIDDEN * (F + 1) + 9, 3 * C * (HIDDEN + 1) + 9]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("gcn", F * HIDDEN + HIDDEN * C),
        ("mlp-2", F * HIDDEN + HIDDEN * C),
        ("sgc-2", F * C),
        ("acm-gcn[sum]", 3 * (F * HIDDEN + HIDDEN * C)),
        ("snowball-2", F * HIDDEN + (F + HIDDEN) * HIDDEN + (F + 2 * HIDDEN) * C),
        # four channels; each has a mixing vector and the gain and shift of its layer norm
        ("acm-gcn+", (3 * F + N + 12) * HIDDEN + 16 + (3 * HIDDEN + N + 12) * C + 16),
    ],
)
def test_the_number_of_parameters_follows_from_the_shapes(graph, name, count):
    _, _, model = build(name, {}, graph)
    assert sum(p.numel() for p in model.parameters()) == count


def test_weights_begin_within_the_bounds_of_the_released_code(graph):
    spec = MODELS["acm-gcn"].with_options(hidden=16)
    torch.manual_seed(0)
    model = spec.build(num_nodes=N, num_features=400, num_classes=C)
    first = model.backbone.layers[0]
    for tensor, bound in (
        (first.weight, 16**-0.5),
        (first.mixer.vectors, 1.0),
        (first.mixer.mix_weight, 3**-0.5),
    ):
        assert 0.6 * bound < tensor.abs().max() <= bound
