"""Gradient-boosted trees on a table of features: the baseline that asks nothing of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError

LARGEST = 1e30  # in single precision, with room for sums
ENOUGH_COLUMNS = 16
"""A tree may use so many columns at least: of few, a share would hide what two tell together."""


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """Settings of the trees; the defaults are shallow and quick, made for thousands of nodes.

    Parameters
    ----------
    rounds
        Trees per class, at most: with validation nodes fewer, where more no longer help.
    depth
        Largest depth of a tree.
    learning_rate
        By how much each tree counts.
    column_share
        Share of the columns, drawn at random, that each tree may use; at least 16 of them.
    bins
        Into how many steps the values of a column are divided.
    patience
        With validation nodes: stop after so many rounds without a lower log loss.
    """

    rounds: int = 100
    depth: int = 4
    learning_rate: float = 0.1
    column_share: float = 0.5
    bins: int = 64
    patience: int = 20


@dataclass(frozen=True, eq=False)
class Trees:
    """Fitted trees. ``classes`` are the classes that occurred in training, of ``num_classes``.

    ``curves`` has, if asked for, the log loss and the share of errors after each round:
    ``curves["train"]["loss"]``, ``curves["validation"]["error"]``.
    """

    booster: Any  # None when all training nodes were of one class
    classes: NDArray[np.int64]
    num_classes: int
    curves: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)

    @classmethod
    def from_bytes(cls, content: bytes, classes: NDArray[np.int64], num_classes: int) -> Trees:
        """Read trees that :meth:`to_bytes` wrote; no bytes, no trees."""
        import xgboost

        if not content:
            return cls(None, classes, num_classes)
        booster = xgboost.Booster()
        try:
            booster.load_model(bytearray(content))
        except (xgboost.core.XGBoostError, UnicodeDecodeError) as error:  # it quotes the bytes
            raise InputError("the saved trees cannot be read; train again") from error
        return cls(booster, classes, num_classes)

    def to_bytes(self) -> bytes:
        """Return the trees in XGBoost's own binary JSON; nothing in it is executed."""
        return b"" if self.booster is None else bytes(self.booster.save_raw("ubj"))

    @property
    def gains(self) -> Mapping[int, float]:
        """By how much the splits on each column lower the loss, in total; unused columns are left
        out."""
        if self.booster is None:
            return {}
        found = self.booster.get_score(importance_type="total_gain")
        return {int(name.removeprefix("f")): float(gain) for name, gain in found.items()}

    def probabilities(self, features: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (n, C); a class never seen has 0."""
        found = np.zeros((features.shape[0], self.num_classes))
        if self.booster is None:
            found[:, self.classes] = 1.0
            return found
        scores = self.booster.inplace_predict(_as_input(features)).astype(np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([1.0 - scores, scores])
        found[:, self.classes] = scores / scores.sum(axis=1, keepdims=True)
        return found


def fit_trees(
    features: Any,
    labels: NDArray[np.int64],
    *,
    num_classes: int,
    options: TreeOptions | None = None,
    validation: tuple[Any, NDArray[np.int64]] | None = None,
    weights: NDArray[np.float64] | None = None,
    with_curves: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> Trees:
    """Fit gradient-boosted trees (XGBoost, histograms) on rows of features, dense or CSR.

    An entry that a CSR matrix does not store counts as missing, and the trees learn to which side
    it goes. The same rows, seed and number of threads give the same trees. ``weights`` (n,) say
    how much each row counts.

    >>> x = np.linspace(0.0, 1.0, 40)[:, None]
    >>> y = (x[:, 0] > 0.5).astype(np.int64)
    >>> fit_trees(x, y, num_classes=2).probabilities(x).argmax(axis=1).tolist() == y.tolist()
    True
    """
    import xgboost

    options = options or TreeOptions()
    classes, targets = np.unique(labels, return_inverse=True)
    if classes.size == 0:
        raise InputError("trees need at least one labelled training node")
    if classes.size == 1 or features.shape[1] == 0:
        # Nothing to learn: the largest class, with certainty only where it is the only one.
        largest = classes[np.bincount(targets).argmax()]
        return Trees(None, np.array([largest]), num_classes)
    settings: dict[str, Any] = {
        "tree_method": "hist",
        "max_bin": options.bins,
        "max_depth": options.depth,
        "eta": options.learning_rate,
        "colsample_bytree": min(max(options.column_share, ENOUGH_COLUMNS / features.shape[1]), 1.0),
        "nthread": threads,
        "seed": seed,
        "verbosity": 0,
    }
    if classes.size == 2:
        settings |= {"objective": "binary:logistic", "eval_metric": ["error", "logloss"]}
    else:
        settings |= {
            "objective": "multi:softprob",
            "eval_metric": ["merror", "mlogloss"],
            "num_class": int(classes.size),
        }
    train = _matrix(features, targets, options, threads)
    if weights is not None:
        train.set_weight(weights)
    more: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    if validation is not None:
        rows, truth = validation
        known = np.isin(truth, classes)  # a class without training nodes cannot be learnt
        if known.any():
            kept = _as_input(rows)[np.flatnonzero(known)]
            # Not quantile like `train`: every round predicts these rows, here three times faster.
            held = xgboost.DMatrix(kept, np.searchsorted(classes, truth[known]), nthread=threads)
            shown = [(train, "train")] if with_curves else []
            more = {"evals": [*shown, (held, "validation")], "verbose_eval": False}
            more |= {"early_stopping_rounds": options.patience, "evals_result": seen}
    booster = xgboost.train(settings, train, options.rounds, **more)
    if more:
        booster = booster[: booster.best_iteration + 1]
    curves = {part: _curves(found) for part, found in seen.items()} if with_curves else {}
    return Trees(booster, classes, num_classes, curves)


def _curves(found: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    names = {"error": "error", "merror": "error", "logloss": "loss", "mlogloss": "loss"}
    return {names[name]: values for name, values in found.items()}


def _matrix(features: Any, targets: Any, options: TreeOptions, threads: int) -> Any:
    import xgboost

    return xgboost.QuantileDMatrix(
        _as_input(features), targets, max_bin=options.bins, nthread=threads
    )


def _as_input(features: Any) -> Any:
    """Return rows in single precision; numbers beyond it become its largest."""
    if sp.issparse(features):
        matrix = sp.csr_matrix(features)
        return sp.csr_matrix(
            (_single(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape
        )
    return _single(np.asarray(features))


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    if values.size and not (values.min() >= -LARGEST and values.max() <= LARGEST):
        values = np.clip(values, -LARGEST, LARGEST)  # NaN stays: trees take it as missing
    return np.asarray(values, dtype=np.float32)
