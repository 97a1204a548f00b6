"""Label propagation: what the labels of training nodes tell by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.learning.learner import Learned, Lesson
from heterophily.models.baseline import Card, check_share
from heterophily.models.options import check_count

PULL = 1e-6  # weight of the class shares beside propagated labels: decides where no label arrives


def spread(
    signal: Tensor,
    operator: Propagation,
    *,
    hops: int,
    alpha: float,
    after: Callable[[Tensor], Tensor],
) -> Tensor:
    r"""Repeat :math:`Y \leftarrow \text{after}(\alpha \hat A Y + (1 - \alpha) Y_0)`, (N, C)."""
    found = signal
    for _ in range(hops):
        found = after(alpha * operator(found) + (1.0 - alpha) * signal)
    return found


def clamped(signal: Tensor) -> Tensor:
    """Return the signal within 0 and 1."""
    return signal.clamp(0.0, 1.0)


class KnowsLabels(nn.Module):
    """Keeps the labels of the training nodes, (N,); -1 = not known."""

    labels: Tensor

    def __init__(self, num_nodes: int, num_classes: int) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.register_buffer("labels", torch.full((num_nodes,), -1))

    def keep_labels(self, lesson: Lesson) -> None:
        """Remember the labels of the training nodes, and no others."""
        known = np.where(lesson.split.train, lesson.labels, -1)
        self.labels = torch.from_numpy(known).to(self.labels.device)

    def one_hot(self, inputs: GraphInputs) -> Tensor:
        """Return the known labels as (N, C) zeros and ones."""
        if self.labels.numel() != inputs.num_nodes:
            raise InputError(
                f"the model was trained on {self.labels.numel()} nodes and the graph has "
                f"{inputs.num_nodes}; label propagation works only on the graph it was trained on"
            )
        places = torch.arange(self.num_classes, device=self.labels.device)
        return (self.labels[:, None] == places).to(inputs.operator.matrix.dtype)

    def log_shares(self, signal: Tensor, known: Tensor) -> Tensor:
        """Return log probabilities; a node that no label reaches has the shares of the classes."""
        prior = known.mean(0) + PULL
        found = signal.clamp(min=0.0) + PULL * prior / prior.sum()
        return torch.log(found / found.sum(1, keepdim=True))


@dataclass(frozen=True, kw_only=True)
class LabelPropagationOptions:
    r"""Propagation of labels.

    Parameters
    ----------
    hops
        Number of steps.
    alpha
        Share :math:`\alpha` of the neighbours in each step.
    """

    hops: int = 50
    alpha: float = 0.9

    def __post_init__(self) -> None:
        """Check every value once."""
        check_count("hops", self.hops)
        check_share("alpha", self.alpha)


class LabelPropagation(KnowsLabels):
    r"""Labels of training nodes travel along the edges; nothing is trained.

    .. math:: Y^{k+1} = \alpha D^{-1/2} A D^{-1/2} Y^k + (1 - \alpha) Y^0
    """

    card: ClassVar[Card] = Card(
        does="Spreads the labels of training nodes along edges. Nothing is trained.",
        paper="Zhu and Ghahramani 2002, Learning from Labeled and Unlabeled Data",
        cost="O(K E C), once; nothing is trained",
        departs="symmetric normalisation, labels are clamped softly (Zhou et al. 2004)",
        step="",
    )

    def __init__(
        self,
        options: LabelPropagationOptions,
        *,
        num_nodes: int,
        num_features: int,
        num_classes: int,
    ) -> None:
        super().__init__(num_nodes, num_classes)
        self.options = options

    def learn(self, lesson: Lesson) -> Learned:
        """Remember the labels of the training nodes."""
        self.keep_labels(lesson)
        return lesson.judged(self(lesson.inputs))

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logarithms of the propagated shares, (N, C)."""
        known, options = self.one_hot(inputs), self.options
        found = spread(
            known, inputs.operator, hops=options.hops, alpha=options.alpha, after=clamped
        )
        return self.log_shares(found, known)
