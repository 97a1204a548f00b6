from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, random_walk, small_graph
from torch.nn.functional import gelu, layer_norm, leaky_relu

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS

STACKS = [
    *("res-gcn", "res-sage", "res-gat", "gat-sep", "res-fagcn", "res-acm", "res-acmii"),
    *("res-acm+", "res-acmii+"),
]


def normed(d: Dense, state, name):
    gain, shift = d.p[f"{name}.weight"], d.p[f"{name}.bias"]
    return layer_norm(state, (state.shape[1],), gain, shift)


def attended(d: Dense, state, name, pattern):
    """Attention with the N x N matrix of weights; a node without neighbours receives nothing."""
    name = f"{name}.attention"
    heads, width = d.p[f"{name}.receiver"].shape
    outputs = []
    for k in range(heads):
        mapped = state @ d.p[f"{name}.linear.weight"][:, k * width : (k + 1) * width]
        received, sent = mapped @ d.p[f"{name}.receiver"][k], mapped @ d.p[f"{name}.sender"][k]
        scores = leaky_relu(received[:, None] + sent[None, :], 0.2)
        weights = torch.where(pattern > 0, (scores - scores.max().detach()).exp(), 0.0)
        total = weights.sum(1, keepdim=True)
        outputs.append(torch.where(total > 0, weights / total.clamp(min=1e-300), 0.0) @ mapped)
    return torch.cat(outputs, 1) + d.p[f"{name}.bias"]


def mixed(d: Dense, state, name, *, is_second):
    low = random_walk(d.a + d.eye)
    filters = (low, d.eye - low, d.eye)
    weight = d.p[f"{name}.layer.weight"]
    channels = [
        f @ torch.relu(state @ w) if is_second else torch.relu(f @ state @ w)
        for f, w in zip(filters, weight, strict=True)
    ]
    if "structure" in d.options.layer_channels:
        channels.append(torch.relu(d.a @ d.p[f"{name}.layer.structure_weight"]))
    mixer = f"{name}.layer.mixer"
    vectors, mix = d.p[f"{mixer}.vectors"], d.p[f"{mixer}.mix_weight"]
    seen = channels
    if f"{mixer}.norm_gain" in d.p:
        width, gains, shifts = (
            state.shape[1:],
            d.p[f"{mixer}.norm_gain"],
            d.p[f"{mixer}.norm_shift"],
        )
        seen = [
            layer_norm(channel, width, gain, shift)
            for channel, gain, shift in zip(channels, gains, shifts, strict=True)
        ]
    scores = torch.cat([h @ v for h, v in zip(seen, vectors, strict=True)], 1).sigmoid()
    alpha = (scores / len(channels) @ mix).softmax(1)
    return sum(alpha[:, k : k + 1] * channel for k, channel in enumerate(channels))


def convolved(d: Dense, state, name):
    kind = d.options.convolution
    if kind == "gcn":
        return d.renormalized @ state
    if kind == "sage":
        return torch.cat([state, random_walk(d.a) @ state], 1)
    if kind == "gat":
        return attended(d, state, name, d.a + d.eye)
    if kind == "gat-sep":
        return torch.cat([state, attended(d, state, name, d.a)], 1)
    if kind == "fagcn":
        g_1, g_2 = d.p[f"{name}.layer.receiver"], d.p[f"{name}.layer.sender"]
        alpha = torch.tanh(state @ g_1 + (state @ g_2).T)
        return d.options.epsilon * state + (alpha * d.symmetric) @ state
    return mixed(d, state, name, is_second=kind == "acmii")


def dense_residual(d: Dense):
    state = gelu(KEPT * d.linear(d.x, "backbone.input"))
    states = []
    for k in range(d.options.depth):
        block = f"backbone.blocks.{k}"
        gathered = convolved(d, normed(d, state, f"{block}.norm"), f"{block}.convolution")
        inner = KEPT * gelu(d.linear(gathered, f"{block}.feed_forward.first"))
        state = state + KEPT * d.linear(inner, f"{block}.feed_forward.second")
        states.append(state)
    jumps = {"last": lambda: state, "cat": lambda: torch.cat(states, 1)}
    jumps["max"] = lambda: torch.stack(states).amax(0)
    return d.linear(normed(d, jumps[d.options.jk](), "backbone.norm"), "backbone.output")


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("jk", ["last", "max", "cat"])
def test_outputs_and_gradients_equal_the_dense_transcription(name, jk, monkeypatch):
    options = {"depth": 2, "hidden": 6, "heads": 2, "expansion": 2, "jk": jk}
    assert_equals_transcription(name, dense_residual, monkeypatch, **options)


def test_a_block_whose_last_map_is_zero_changes_nothing():
    _, inputs, model = build("res-sage", small_graph(), dropout=0.0, depth=3)
    shallow = build("res-sage", small_graph(), dropout=0.0, depth=1)[2]
    with torch.no_grad():
        for network in (model, shallow):
            for block in network.backbone.blocks:
                block.feed_forward.second.weight.zero_()
                block.feed_forward.second.bias.zero_()
        for part in ("input", "norm", "output"):
            twin = getattr(shallow.backbone, part)
            twin.load_state_dict(getattr(model.backbone, part).state_dict())
    torch.testing.assert_close(model(inputs), shallow(inputs))


def test_mixing_weights_are_shown_for_acm_alone_and_add_up_to_one():
    _, inputs, model = build("res-acm", small_graph(), depth=2)
    weights = model.channel_weights(inputs)
    assert len(weights) == 2
    torch.testing.assert_close(weights[1].sum(1), torch.ones(inputs.num_nodes).double())
    _, inputs, model = build("res-gcn", small_graph())
    assert model.channel_weights(inputs) == ()


def test_the_structure_channel_is_the_fourth():
    _, inputs, model = build("res-acm+", small_graph(), depth=1)
    assert model.channel_weights(inputs)[0].shape == (inputs.num_nodes, 4)
    assert MODELS["res-acm+"].options.layer_channels == ("low", "high", "identity", "structure")


@pytest.mark.parametrize("norm", ["batch", "none"])
def test_other_norms_train(norm):
    _, inputs, model = build("res-gcn", small_graph(), norm=norm)
    assert torch.isfinite(model(inputs)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convolution": "gnc"}, "convolution='gnc'; choose one of gcn, sage"),
        ({"norm": "group"}, "norm='group'"),
        ({"jk": "sum"}, "jk='sum'"),
        ({"depth": 0}, "depth=0"),
        ({"epsilon": 2.0}, "epsilon=2.0"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        MODELS["res-gat"].with_options(**options)


def test_plus_is_of_acm_alone():
    with pytest.raises(InputError, match="convolution='gcn'"):
        MODELS["res-acm+"].with_options(convolution="gcn")


def test_heads_must_divide_the_hidden_columns():
    spec = MODELS["res-gat"].with_options(hidden=10, heads=4)
    with pytest.raises(InputError, match="hidden=10 cannot be divided among heads=4"):
        spec.build(num_nodes=3, num_features=2, num_classes=2)
