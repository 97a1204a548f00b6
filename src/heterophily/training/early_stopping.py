"""When to stop: named rules on the validation losses seen so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

StoppingRule = Callable[[Sequence[float], int], bool]


def exceeds_loss_window(losses: Sequence[float], window: int) -> bool:
    """Whether the last validation loss exceeds the mean of the ``window`` losses before it.

    The paper's rule. As in the authors' program it is first asked in epoch ``window + 2``
    (counted from 1).

    >>> exceeds_loss_window([9.0, 1.0, 1.0, 1.5], 2), exceeds_loss_window([1.0, 1.0, 1.5], 2)
    (True, False)
    """
    if len(losses) < window + 2:
        return False
    return losses[-1] > sum(losses[-window - 1 : -1]) / window


def exceeds_patience(losses: Sequence[float], window: int) -> bool:
    """Whether the last ``window`` epochs brought no new lowest validation loss.

    >>> exceeds_patience([3.0, 1.0, 2.0, 1.0], 2), exceeds_patience([3.0, 1.0, 2.0, 0.5], 2)
    (True, False)
    """
    return len(losses) > window and min(losses[-window:]) >= min(losses[:-window])


def never(losses: Sequence[float], window: int) -> bool:
    """Return False: training runs for ``max_epochs``."""
    return False


STOPPING_RULES: Mapping[str, StoppingRule] = {
    "loss-window": exceeds_loss_window,
    "patience": exceeds_patience,
    "none": never,
}
