"""Which channels are computed, of what, and under which names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from heterophily.channels.rows import Orientation
from heterophily.errors import InputError
from heterophily.filters.direction import EdgeDirection
from heterophily.filters.normalization import Normalization

OWN, DEGREE = "own", "degree"
_REVERSE = "reverse-"


@dataclass(frozen=True, slots=True)
class ChannelName:
    """A channel by its name: ``own``, ``low-2``, ``high-1``, ``reverse-low-1``, ``degree``.

    ``low-k`` is :math:`\\hat A^k X`, ``high-k`` is :math:`(I - \\hat A) \\hat A^{k-1} X`, the
    difference of two low channels, which is never stored.

    >>> ChannelName.parse("reverse-high-2")
    ChannelName(kind='high', hops=2, direction='reverse')
    """

    kind: str
    hops: int = 0
    direction: Orientation = "forward"

    @classmethod
    def parse(cls, name: str) -> ChannelName:
        """Read a name."""
        direction: Orientation = "reverse" if name.startswith(_REVERSE) else "forward"
        kind, _, hops = name.removeprefix(_REVERSE).partition("-")
        if name in (OWN, DEGREE):
            return cls(name)
        if kind not in ("low", "high") or not (hops.isdecimal() and int(hops) > 0):
            raise InputError(
                f"unknown channel {name!r}; known: own, degree, low-K, high-K, reverse-low-K, "
                "reverse-high-K with K = 1, 2, ..."
            )
        return cls(kind, int(hops), direction)

    @property
    def stored(self) -> tuple[str, ...]:
        """The low channels that it is made of, in the order of their powers."""
        if self.kind not in ("low", "high"):
            return ()
        powers = (self.hops,) if self.kind == "low" else (self.hops - 1, self.hops)
        return tuple(low_name(k, self.direction) for k in powers if k > 0)


def low_name(hops: int, direction: Orientation) -> str:
    """Return the name of a stored channel.

    >>> low_name(2, "reverse")
    'reverse-low-2'
    """
    return f"{_REVERSE if direction == 'reverse' else ''}low-{hops}"


@dataclass(frozen=True, slots=True)
class ChannelRecipe:
    """How channels are computed; equal recipes of one graph share their files.

    Parameters
    ----------
    hops, reverse_hops
        Powers of Â along the edges, and against them; 0: none.
    kind, renormalize
        Form of Â, see :class:`~heterophily.filters.normalization.NormalizedAdjacency`.
    features
        ``counts``, ``numbers`` or ``as-given``: how X is scaled before.
    row_normalize
        Whether rows of counts are divided by their sum.
    """

    hops: int = 1
    reverse_hops: int = 0
    kind: Normalization = "random-walk"
    renormalize: bool = True
    features: str = "numbers"
    row_normalize: bool = True

    @classmethod
    def for_names(
        cls, names: Iterable[str], *, edge_direction: EdgeDirection = "given", **how: object
    ) -> ChannelRecipe:
        """Return the recipe of some channels.

        >>> ChannelRecipe.for_names(["own", "high-2"]).hops
        2
        """
        if edge_direction != "given":
            raise InputError(
                f"edge_direction={edge_direction!r}: channels are computed along the edges as "
                "given, and against them under names of their own (reverse-low-1, ...)"
            )
        parsed = [ChannelName.parse(name) for name in names]
        most = {
            direction: max([name.hops for name in parsed if name.direction == direction], default=0)
            for direction in ("forward", "reverse")
        }
        return cls(hops=most["forward"], reverse_hops=most["reverse"], **how)  # type: ignore[arg-type]

    def stored(self) -> list[tuple[Orientation, int]]:
        """Return the low channels that are computed, in the order of the work."""
        return [("forward", k) for k in range(1, self.hops + 1)] + [
            ("reverse", k) for k in range(1, self.reverse_hops + 1)
        ]

    def digest(self) -> str:
        """Return a short hash of what the stored numbers follow from, the powers left out."""
        facts = {k: v for k, v in asdict(self).items() if not k.endswith("hops")}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]
