from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription
from torch.nn.functional import elu

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def jumped(d: Dense, states):
    seen = torch.cat(states, 1) if d.options.jk == "cat" else torch.stack(states).max(0).values
    return d.linear(seen, "output")


def dense_gcn_jk_with_batch_norm(d: Dense):
    """The program of Lim et al. (2021): norm and activation but for the last layer."""
    state, states, last = KEPT * d.x, [], d.options.depth - 1
    for k in range(last + 1):
        output = d.renormalized @ state @ d.p[f"layers.{k}.weight"] + d.p[f"layers.{k}.bias"]
        if k < last:
            centred = output - output.mean(0)
            scaled = centred / (centred.square().mean(0) + 1e-5).sqrt()
            output = torch.relu(scaled * d.p[f"norms.{k}.weight"] + d.p[f"norms.{k}.bias"])
        states.append(output)
        state = KEPT * output
    return jumped(d, states)


def dense_gcn_jk(d: Dense):
    state, states = KEPT * d.x, []
    for k in range(d.options.depth):
        product = d.renormalized @ state @ d.p[f"layers.{k}.weight"]
        state = KEPT * torch.relu(product + d.p[f"layers.{k}.bias"])
        states.append(state)
    return jumped(d, states)


def dense_gat_jk(d: Dense):
    state, states = KEPT * d.x, []
    for k in range(d.options.depth):
        name, width, outputs = f"layers.{k}", d.options.hidden, []
        for head in range(d.options.heads):
            mapped = state @ d.p[f"{name}.linear.weight"][:, head * width : (head + 1) * width]
            pair = [mapped @ d.p[f"{name}.{end}"][head] for end in ("receiver", "sender")]
            scores = torch.nn.functional.leaky_relu(pair[0][:, None] + pair[1][None], 0.2)
            weights = scores.masked_fill(d.a + d.eye == 0, -torch.inf).softmax(1)
            outputs.append(weights @ mapped)
        state = KEPT * elu(torch.cat(outputs, 1) + d.p[f"{name}.bias"])
        states.append(state)
    return jumped(d, states)


@pytest.mark.parametrize("jk", ["max", "cat"])
def test_gcn_jk_equals_the_dense_transcription(jk, monkeypatch):
    assert_equals_transcription("gcn+jk", dense_gcn_jk, monkeypatch, jk=jk, depth=3)


@pytest.mark.parametrize("jk", ["max", "cat"])
def test_gcn_jk_with_batch_norm_equals_the_dense_transcription(jk, monkeypatch):
    options = {"jk": jk, "depth": 3, "batch_norm": True}
    assert_equals_transcription("gcn+jk", dense_gcn_jk_with_batch_norm, monkeypatch, **options)


@pytest.mark.parametrize("jk", ["max", "cat"])
def test_gat_jk_equals_the_dense_transcription(jk, monkeypatch):
    assert_equals_transcription("gat+jk", dense_gat_jk, monkeypatch, jk=jk, heads=2)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="max, cat"):
        MODELS["gcn+jk"].with_options(jk="lstm")
