from __future__ import annotations

import torch
from dense_models import KEPT, Dense, assert_equals_transcription, random_walk


def dense_graphsage(d: Dense):
    state, last = KEPT * d.x, d.options.depth - 1
    for k in range(d.options.depth):
        ego, neighbours = d.p[f"layers.{k}.weight"]
        joined = torch.cat([state, random_walk(d.a) @ state], 1)
        output = joined @ torch.cat([ego, neighbours]) + d.p[f"layers.{k}.bias"]
        if k == last:
            return output
        hidden = torch.relu(output)
        if d.options.use_l2_norm:
            hidden = hidden / hidden.norm(dim=1, keepdim=True).clamp(min=1e-12)
        state = KEPT * hidden
    raise AssertionError


def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch):
    assert_equals_transcription("graphsage", dense_graphsage, monkeypatch, depth=3)


def test_with_the_norm_of_the_paper_too(monkeypatch):
    assert_equals_transcription("graphsage", dense_graphsage, monkeypatch, use_l2_norm=True)
