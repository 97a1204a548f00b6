"""Class weights: every class counts alike in the loss."""

from functools import partial

import numpy as np
import pytest
import torch

from heterophily.data.splits import stratified_split
from heterophily.errors import HeterophilyError
from heterophily.models.catalog import MODELS
from heterophily.runs.engines import engine_for
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch
from heterophily.training.fit import fit

CONFIG = TrainConfig(lr=0.05, weight_decay=0.0, max_epochs=60)


def rare():
    """Two overlapping classes, one of them nine times as large."""
    rng = np.random.default_rng(0)
    labels = (np.arange(400) % 10 == 0).astype(np.int64)
    features = rng.normal(size=(400, 2)) + 1.2 * labels[:, None]
    split = stratified_split(labels, rng=rng, train=0.6, validation=0.2, test=0.2)
    return torch.from_numpy(features).float(), labels, split


def recall(weight):
    inputs, labels, split = rare()
    build = partial(torch.nn.Linear, 2, 2)
    config = CONFIG.replace(class_weight=weight)
    result = fit(build, inputs, labels, split, config, seed=0)
    return float(np.mean(result.predictions[labels == 1] == 1))


def test_balanced_weights_raise_the_recall_of_the_rare_class():
    assert recall("balanced") > recall("none") + 0.2


def test_balanced_loss_is_the_mean_of_the_class_losses():
    inputs, labels, split = rare()
    model = torch.nn.Linear(2, 2)
    config = CONFIG.replace(class_weight="balanced")
    loss = FullBatch(model, inputs, labels, split, config).step()
    model = torch.nn.Linear(2, 2)
    batch = FullBatch(model, inputs, labels, split, config)
    with torch.no_grad():
        logits = model(inputs)
    rows = torch.from_numpy(np.flatnonzero(split.train))
    truth = torch.from_numpy(labels)[rows]
    each = torch.nn.functional.cross_entropy(logits[rows], truth, reduction="none")
    expected = np.mean([each[truth == k].mean().item() for k in (0, 1)])
    assert batch.step() == pytest.approx(expected, rel=1e-5)
    assert np.isfinite(loss)


def test_without_weights_the_loss_is_the_plain_mean_bit_for_bit():
    inputs, labels, split = rare()
    torch.manual_seed(3)
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        logits = model(inputs)
    rows = torch.from_numpy(np.flatnonzero(split.train))
    expected = torch.nn.functional.cross_entropy(logits[rows], torch.from_numpy(labels)[rows])
    assert FullBatch(model, inputs, labels, split, CONFIG).step() == expected.item()


def test_weights_do_not_keep_a_model_from_the_native_engine():
    config = CONFIG.replace(class_weight="balanced", max_epochs=2)
    weighted = engine_for(MODELS["acm-gcn"], "auto", config=config)[0]
    assert weighted == engine_for(MODELS["acm-gcn"], "auto", config=CONFIG)[0]


def test_unknown_weights_are_refused():
    with pytest.raises(HeterophilyError, match="did you mean 'balanced'"):
        TrainConfig(class_weight="balance")


def test_fields_of_a_run_without_weights_are_those_from_before_weights_existed():
    assert "class_weight" not in TrainConfig().to_dict()
    assert TrainConfig(class_weight="balanced").to_dict()["class_weight"] == "balanced"
    assert TrainConfig(**TrainConfig(lr=0.3).to_dict()) == TrainConfig(lr=0.3)
