"""One epoch of full-batch training: a step on the training nodes, then an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from heterophily.data.splits import PARTS, Split
from heterophily.errors import InputError
from heterophily.training.config import TrainConfig
from heterophily.training.selection import Validation, check_selection

_OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


class FullBatch:
    """A model, its optimiser and the rows of one split.

    Only training rows enter the loss and only labelled nodes may be in a split, so a label
    outside it is never read.

    Parameters
    ----------
    model
        A module that maps ``inputs`` to logits of shape (N, C).
    inputs
        What the model receives; passed through untouched.
    labels
        (N,) classes; -1 = unlabelled.
    split
        Training, validation and test nodes.
    config
        Optimiser and its numbers.
    """

    def __init__(
        self,
        model: nn.Module,
        inputs: Any,
        labels: NDArray[np.int64],
        split: Split,
        config: TrainConfig,
        *,
        device: torch.device | None = None,
    ) -> None:
        check_split(split, labels)
        check_selection(config.select_by, labels[split.validation])
        self.model, self.inputs, self.num_nodes = model, inputs, labels.size
        self.optimizer = make_optimizer(model, config)
        self.rows: dict[str, Tensor] = {}
        self.targets: dict[str, Tensor] = {}
        for part in PARTS:
            nodes = np.flatnonzero(getattr(split, part))
            self.rows[part] = torch.from_numpy(nodes).to(device)
            self.targets[part] = torch.from_numpy(labels[nodes]).to(device)
        self.weights: dict[str, Tensor] = {}
        if config.is_weighted:
            of_class = class_weights(config.class_weight, labels, split.train)
            shares = torch.from_numpy(of_class).to(device)
            self.weights = {part: shares[self.targets[part]] for part in PARTS}

    def step(self) -> float:
        """Take one optimiser step; return the training loss before it."""
        self.model.train()
        logits = self.model(self.inputs)
        loss = self._loss(logits.index_select(0, self.rows["train"]), "train")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item()

    def _loss(self, logits: Tensor, part: str) -> Tensor:
        """Return the mean cross entropy of a set, or its weighted mean."""
        if not self.weights:
            return cross_entropy(logits, self.targets[part])
        weights = self.weights[part].to(logits.dtype)
        losses = cross_entropy(logits, self.targets[part], reduction="none")
        return (losses * weights).sum() / weights.sum()

    @torch.no_grad()
    def evaluate(self) -> tuple[Validation, Tensor]:
        """Return what is known of the validation nodes, and all logits (N, C), without dropout."""
        self.model.eval()
        logits = self.model(self.inputs)
        shown = logits.index_select(0, self.rows["validation"])
        loss = self._loss(shown, "validation")
        targets = self.targets["validation"]
        share = accuracy(shown.argmax(1), targets)
        return Validation(loss.item(), share, targets, shown), logits


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Return the optimiser of a configuration for the parameters of a model."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise InputError(f"{type(model).__name__} has no trainable parameter")
    return _OPTIMIZERS[config.optimizer](
        _groups(model, config) if config.has_groups else parameters,
        lr=config.lr,
        weight_decay=config.weight_decay,
        fused=True,
    )  # type: ignore[call-arg]


def accuracy(predictions: Tensor, targets: Tensor) -> float:
    """Share of right predictions, exact in float64.

    >>> accuracy(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]))
    0.6666666666666666
    """
    return int((predictions == targets).sum()) / len(targets)


def class_weights(
    given: str | tuple[float, ...], labels: NDArray[np.int64], train: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the weight of each class, (C,): as given, or balanced among the training nodes."""
    count = int(labels.max()) + 1
    if isinstance(given, str):
        return balanced_weights(labels[train], count)
    if len(given) < count:
        raise InputError(f"class_weight has {len(given)} weights, the labels {count} classes")
    weights = np.array(given)
    if not weights[labels[train]].any():
        raise InputError("class_weight gives every training node the weight 0")
    return weights


def balanced_weights(labels: NDArray[np.int64], num_classes: int) -> NDArray[np.float64]:
    r"""Return the weight :math:`n / (C n_k)` of each class, C of them occurring in ``labels``.

    A class that does not occur has the weight 1.

    >>> balanced_weights(np.array([0, 0, 0, 1]), 3).tolist()
    [0.6666666666666666, 2.0, 1.0]
    """
    counts = np.bincount(labels, minlength=num_classes)
    present = counts > 0
    weights = np.ones(num_classes)
    weights[present] = labels.size / (present.sum() * counts[present])
    return weights


def check_split(split: Split, labels: NDArray[np.int64]) -> None:
    """Refuse a split of another graph and a split that holds an unlabelled node."""
    if split.train.shape != labels.shape:
        raise InputError(f"the split is for {split.train.size} nodes, the labels for {labels.size}")
    for part in PARTS:
        bad = np.flatnonzero(getattr(split, part) & (labels < 0))
        if bad.size:
            raise InputError(f"node {bad[0]} is in the {part} set but has no label")


def _groups(model: nn.Module, config: TrainConfig) -> list[dict[str, Any]]:
    """Return the parameters, and the coefficients of the model's filter with their own numbers."""
    coefficients = list(getattr(model, "filter_coefficients", ()))
    if not coefficients:
        raise InputError(
            f"coefficient_lr, coefficient_weight_decay: {type(model).__name__} learns no "
            "coefficients of a filter"
        )
    theirs = {id(parameter) for parameter in coefficients}
    others = [p for p in model.parameters() if p.requires_grad and id(p) not in theirs]
    own = {"lr": config.coefficient_lr, "weight_decay": config.coefficient_weight_decay}
    chosen = {name: value for name, value in own.items() if value is not None}
    return [{"params": others}, {"params": coefficients, **chosen}]
