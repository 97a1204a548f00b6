"""Channels: what a layer extracts, each a filter on one linear map of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heterophily.errors import InputError, lookup
from heterophily.filters.filter import HIGH, IDENTITY, LOW, Filter

Order = Literal["filter-then-activate", "activate-then-filter"]
ORDERS: tuple[Order, ...] = ("filter-then-activate", "activate-then-filter")


@dataclass(frozen=True, slots=True)
class Channel:
    """One extraction path of a layer.

    Parameters
    ----------
    filter
        ``identity * I + aggregate * Â``; with ``hops`` h, Âʰ takes the place of Â.
    hops
        How often Â is applied (ACM-SGC-2: 2 in the low-pass channel).
    source
        ``"features"``: the layer's input times a weight; ``"structure"``: ``A W_A``, the fourth
        channel of ACM-GCN+ and ++.
    """

    filter: Filter
    hops: int = 1
    source: Literal["features", "structure"] = "features"

    def __post_init__(self) -> None:
        """Refuse a channel that cannot be computed."""
        if self.hops < 1:
            raise InputError(f"hops={self.hops}; a channel applies Â at least once")


CHANNELS: dict[str, Channel] = {
    "low": Channel(LOW),
    "high": Channel(HIGH),
    "identity": Channel(IDENTITY),
    "structure": Channel(IDENTITY, source="structure"),
}
PAPER_CHANNELS = ("low", "high", "identity")


def resolve_channels(channels: Sequence[str | Channel]) -> tuple[Channel, ...]:
    """Return the channels behind names; own :class:`Channel` values pass through.

    >>> resolve_channels(["high"])
    (Channel(filter=Filter(identity=1.0, aggregate=-1.0), hops=1, source='features'),)
    """
    if isinstance(channels, str):
        raise InputError(
            f"channels={channels!r}; give a sequence of names, such as ('low', 'high')"
        )
    found = tuple(
        channel if isinstance(channel, Channel) else lookup(CHANNELS, "channel", channel)
        for channel in channels
    )
    if not found:
        raise InputError("channels is empty; a layer needs at least one channel")
    if sum(channel.source == "structure" for channel in found) > 1:
        raise InputError("channels names the structure channel twice; it can occur once")
    return found


def check_order(order: str) -> None:
    """Refuse an unknown order of filtering and activation."""
    if order not in ORDERS:
        raise InputError(f"order={order!r}; choose {' or '.join(ORDERS)}")
