"""How one replica is trained: a frozen, checked value."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from heterophily.errors import InputError, lookup
from heterophily.training.early_stopping import STOPPING_RULES
from heterophily.training.selection import SELECTION_SCORES

OPTIMIZERS = ("adam", "adamw")
CLASS_WEIGHTS = ("none", "balanced")
_BATCH_NUMBERS = {"batch_size": 1024, "evaluate_every": 1, "fanout": 10}
BATCHES: dict[str, tuple[str, ...]] = {
    "full": (),
    "channels": ("batch_size", "evaluate_every"),
    "sampled": ("batch_size", "evaluate_every", "fanout"),
}
"""Kinds of batches, and the numbers that each needs."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How a model is trained: optimiser, when to stop, which epoch is reported.

    The defaults are the paper's protocol (FIDELITY, protocol 3): Adam with the L2 penalty in the
    gradient, at most 5,000 epochs, stop when the validation loss exceeds the mean of the previous
    200, report the epoch of the lowest validation loss.

    Parameters
    ----------
    lr
        Learning rate.
    weight_decay
        L2 penalty added to the gradient (``adam``) or decoupled decay (``adamw``), on every
        parameter.
    coefficient_lr, coefficient_weight_decay
        The same for the coefficients of a filter that a model learns (``filter_coefficients``: γ
        of GPR-GNN, θ of BernNet). None: those of the other parameters. The program of GPR-GNN has
        decay 0 there, that of BernNet decay 0 and a learning rate of its own (0.01 by default).
    optimizer
        ``"adam"`` or ``"adamw"``.
    max_epochs
        Upper limit on the number of epochs.
    stopping
        Name of a rule in :data:`STOPPING_RULES`: ``"loss-window"``, ``"patience"``, ``"none"``.
    window
        Number of epochs the stopping rule looks back.
    select_by
        ``"validation-loss"``, ``"validation-accuracy"`` or ``"validation-roc-auc"``: what the
        reported epoch is best in.
    batches
        ``"full"``: every step sees all training nodes, as in the paper. ``"channels"``:
        mini-batches of nodes, seen through channels that are computed once. ``"sampled"``:
        mini-batches of nodes with sampled neighbourhoods.
    batch_size, fanout
        Nodes of a mini-batch, by default 1,024; neighbours that are drawn in each layer, by default
        10.
    evaluate_every
        Of mini-batches: epochs between two evaluations, by default 1. The stopping rule counts
        evaluations.
    class_weight
        ``"none"``: every node counts alike, as in the paper. ``"balanced"``: every class counts
        alike in the training and the validation loss; a node of class k has the weight
        :math:`n / (C n_k)`, counted among the training nodes. Or the weight of each class, (C,).

    Examples
    --------
    >>> TrainConfig(lr=0.1).max_epochs
    5000
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    optimizer: str = "adam"
    max_epochs: int = 5000
    stopping: str = "loss-window"
    window: int = 200
    select_by: str = "validation-loss"
    class_weight: str | tuple[float, ...] = "none"
    coefficient_lr: float | None = None
    coefficient_weight_decay: float | None = None
    batches: str = "full"
    batch_size: int | None = None
    fanout: int | None = None
    evaluate_every: int | None = None

    def __post_init__(self) -> None:
        """Check every field once."""
        self._check_batches()
        for name in ("lr", "coefficient_lr"):
            value = getattr(self, name)
            if not (_is_number(value) and value > 0) and name not in self._unset:
                raise InputError(f"{name}={value!r}; the learning rate is a positive number")
        for name in ("weight_decay", "coefficient_weight_decay"):
            value = getattr(self, name)
            if not (_is_number(value) and value >= 0) and name not in self._unset:
                raise InputError(f"{name}={value!r}; it is zero or a positive number")
        for name in ("max_epochs", "window"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name}={value!r}; it is a whole number of at least 1")
        lookup(dict.fromkeys(OPTIMIZERS), "optimizer", self.optimizer)
        lookup(STOPPING_RULES, "stopping rule", self.stopping)
        lookup(SELECTION_SCORES, "selection", self.select_by)
        if isinstance(self.class_weight, str):
            lookup(dict.fromkeys(CLASS_WEIGHTS), "class weight", self.class_weight)
        elif not (
            all(_is_number(weight) and weight >= 0 for weight in self.class_weight)
            and any(self.class_weight)
        ):
            raise InputError(
                f"class_weight={self.class_weight!r}; it is none, balanced or one weight per class"
            )

    def _check_batches(self) -> None:
        """Give the numbers of mini-batches their defaults; refuse those that have no use."""
        wanted = lookup(BATCHES, "kind of batches", self.batches)
        for name, default in _BATCH_NUMBERS.items():
            value = getattr(self, name)
            if name not in wanted:
                if value is not None:
                    raise InputError(
                        f"{name}={value!r} has no effect with batches={self.batches!r}; leave it "
                        "out"
                    )
                continue
            if value is None:
                object.__setattr__(self, name, default)
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name}={value!r}; it is a whole number of at least 1")

    @property
    def is_weighted(self) -> bool:
        """Whether nodes count by the size of their class."""
        return self.class_weight != "none"

    @property
    def _unset(self) -> tuple[str, ...]:
        """The fields that are not used: class weights and rates of coefficients by default."""
        later = {
            "class_weight": "none",
            "coefficient_lr": None,
            "coefficient_weight_decay": None,
            "batches": "full",
            **dict.fromkeys(_BATCH_NUMBERS),
        }
        return tuple(name for name, unused in later.items() if getattr(self, name) == unused)

    @property
    def has_groups(self) -> bool:
        """Whether coefficients of filters are trained otherwise than the other parameters."""
        return not {"coefficient_lr", "coefficient_weight_decay"} <= set(self._unset)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, without those that are not used.

        Keys of stored runs are made of this: those of runs that do not use a field stay as they
        were before it existed.
        """
        values = asdict(self)
        for name in self._unset:
            del values[name]
        return values

    def replace(self, **changes: Any) -> TrainConfig:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


def _is_number(value: object) -> bool:
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and math.isfinite(value)  # type: ignore[arg-type]


PAPER = TrainConfig()
"""The protocol of the nine small datasets (random and fixed splits)."""

DEEZER = TrainConfig(
    optimizer="adamw", max_epochs=500, stopping="none", select_by="validation-accuracy"
)
"""The protocol of deezer-europe: AdamW, 500 epochs, best validation accuracy."""
