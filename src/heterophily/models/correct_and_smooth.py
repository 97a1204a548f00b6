"""Correct and Smooth: a perceptron whose errors and answers are spread over the graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from heterophily.layers.feature_mlp import FeatureMlp
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.learning.learner import Learned, Lesson
from heterophily.learning.result import History
from heterophily.models.baseline import BaselineOptions, Card, check_positive, check_share
from heterophily.models.label_propagation import KnowsLabels, clamped, spread
from heterophily.models.options import check_count

LARGEST_SCALE = 1000.0  # beyond it a node's propagated error is too small to be scaled


@dataclass(frozen=True, kw_only=True)
class CorrectAndSmoothOptions(BaselineOptions):
    r"""A perceptron, then two propagations.

    Parameters
    ----------
    depth
        Maps of the perceptron.
    correct_hops, correct_alpha
        Steps of the errors, and share of the neighbours in each.
    smooth_hops, smooth_alpha
        The same for the corrected shares.
    scale
        What the propagated errors are multiplied by; None: a scale for each node (the paper's
        autoscale).
    """

    depth: int = 2
    correct_hops: int = 50
    correct_alpha: float = 0.9
    smooth_hops: int = 50
    smooth_alpha: float = 0.8
    scale: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        super().__post_init__()
        for name in ("depth", "correct_hops", "smooth_hops"):
            check_count(name, getattr(self, name))
        check_share("correct_alpha", self.correct_alpha)
        check_share("smooth_alpha", self.smooth_alpha)
        if self.scale is not None:
            check_positive("scale", self.scale)


class _Perceptron(nn.Module):
    def __init__(self, options: CorrectAndSmoothOptions, num_features: int, classes: int) -> None:
        super().__init__()
        widths = [num_features, *[options.hidden] * (options.depth - 1), classes]
        self.mlp = FeatureMlp(widths, dropout=options.dropout, input_dropout=options.input_rate)

    def forward(self, inputs: GraphInputs) -> Tensor:
        logits: Tensor = self.mlp(inputs.features)
        return logits


class CorrectAndSmooth(KnowsLabels):
    r"""Huang et al. (2021): a perceptron whose errors and answers are spread over the graph.

    With Z the perceptron's probabilities, E its errors on training nodes (0 elsewhere) and S the
    propagation of :func:`spread`, the corrected shares are :math:`Z + s \cdot S_1(E)`, where s is
    the mean error of training nodes over the length of a node's propagated error; then training
    nodes get their labels and :math:`S_2` smooths the result.
    """

    card: ClassVar[Card] = Card(
        does="A perceptron; then its errors and its answers are spread along edges.",
        paper="Huang et al. 2021, Combining Label Propagation and Simple Models, section 2",
        cost="O(nnz(X) H) for an epoch of the perceptron; O(K E C) once",
        departs="labels of validation nodes are not propagated",
    )

    def __init__(
        self,
        options: CorrectAndSmoothOptions,
        *,
        num_nodes: int,
        num_features: int,
        num_classes: int,
    ) -> None:
        super().__init__(num_nodes, num_classes)
        self.options = options
        self.base = _Perceptron(options, num_features, num_classes)

    def learn(self, lesson: Lesson) -> Learned:
        """Train the perceptron, then remember the labels of the training nodes."""
        result = lesson.train(self.base)
        assert result.state is not None
        self.base.load_state_dict(dict(result.state))
        self.keep_labels(lesson)
        self.eval()
        with torch.no_grad():
            last = lesson.judged(self(lesson.inputs)).history
        before = result.history
        history = History(
            np.append(before.train_loss, last.train_loss),
            np.append(before.validation_loss, last.validation_loss),
            np.append(before.validation_accuracy, last.validation_accuracy),
        )
        return Learned(history, len(history))

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logarithms of the smoothed shares, (N, C)."""
        known = self.one_hot(inputs)
        shares = self.correct(torch.softmax(self.base(inputs), dim=1), known, inputs.operator)
        return self.log_shares(self.smooth(shares, known, inputs.operator), known)

    def correct(self, shares: Tensor, known: Tensor, operator: Propagation) -> Tensor:
        """Add the propagated errors of the training nodes, (N, C)."""
        options, is_known = self.options, known.sum(1, keepdim=True) > 0
        error = torch.where(is_known, known - shares, 0.0)
        moving = partial(
            spread, error, operator, hops=options.correct_hops, alpha=options.correct_alpha
        )
        if options.scale is not None:

            def fixed(signal: Tensor) -> Tensor:
                return torch.where(is_known, error, signal)

            return shares + options.scale * moving(after=fixed)
        moved = moving(after=lambda signal: signal.clamp(-1.0, 1.0))
        mean = error.abs().sum() / is_known.sum().clamp(min=1)
        scale = mean / moved.abs().sum(1, keepdim=True)
        usable = scale.isfinite() & (scale <= LARGEST_SCALE)
        return shares + torch.where(usable, scale, 1.0) * moved

    def smooth(self, shares: Tensor, known: Tensor, operator: Propagation) -> Tensor:
        """Give training nodes their labels, and propagate, (N, C)."""
        start = torch.where(known.sum(1, keepdim=True) > 0, known, shares)
        options = self.options
        return spread(
            start, operator, hops=options.smooth_hops, alpha=options.smooth_alpha, after=clamped
        )
