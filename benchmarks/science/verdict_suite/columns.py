"""Groups of feature columns: how they are drawn, their true density, what an average keeps.

``groups`` (K,) gives for each block the group whose distribution its nodes follow; by default
that is the class of the block. Densities are up to a factor that does not depend on the group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PARAMETERS = 20_240_229  # seed of class means and word probabilities: the same in every graph


class Columns(Protocol):
    """A group of columns whose distribution depends on the block of a node alone."""

    groups: tuple[int, ...] | None

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        """Draw the columns (N, F) of nodes whose groups (N,) are given; there are ``count``."""
        ...

    def log_density(self, values: Floats, count: int) -> Floats:
        """Return the logarithm of the density of each row in each group, (N, count)."""
        ...

    def linear(self, values: Floats, count: int) -> Floats:
        """Return the few linear combinations (N, D) in which averages over nodes differ."""
        ...


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal columns around one mean per group, all means at the distance ``separation`` from 0.

    Means are orthogonal where there is room. ``decades`` spreads the scales of the columns over
    that many powers of ten.
    """

    separation: float
    width: int
    decades: float = 0.0
    groups: tuple[int, ...] | None = None

    def _means(self, count: int) -> Floats:
        rng = np.random.default_rng(PARAMETERS)
        if count == 2 and self.width < 2:
            return self.separation * np.array([[-1.0], [1.0]]) / np.sqrt(2)
        rows = rng.standard_normal((count, self.width))
        if count <= self.width:
            rows = np.linalg.qr(rows.T)[0].T
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return self.separation * rows

    def _scales(self) -> Floats:
        half = self.decades / 2
        return 10.0 ** np.linspace(-half, half, self.width)

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((groups.size, self.width))
        return (self._means(count)[groups] + noise) * self._scales()

    def log_density(self, values: Floats, count: int) -> Floats:
        means = self._means(count)
        return (values / self._scales()) @ means.T - 0.5 * np.square(means).sum(axis=1)

    def linear(self, values: Floats, count: int) -> Floats:
        means = self._means(count)
        directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2]
        return (values / self._scales()) @ directions[: count - 1].T


@dataclass(frozen=True, slots=True)
class Words:
    """Sparse zeros and ones: each group has its own chance of each word.

    A row has ``length`` words on average; ``sharpness`` is the standard deviation of the logarithm
    of a word's odds between groups.
    """

    vocabulary: int
    length: float
    sharpness: float
    groups: tuple[int, ...] | None = None

    def _chances(self, count: int) -> Floats:
        rng = np.random.default_rng(PARAMETERS)
        common = np.exp(rng.standard_normal(self.vocabulary))
        odds = common * np.exp(self.sharpness * rng.standard_normal((count, self.vocabulary)))
        return np.minimum(self.length * odds / odds.sum(axis=1, keepdims=True), 0.9)

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        chances = self._chances(count)
        drawn = rng.random((groups.size, self.vocabulary), dtype=np.float32) < chances[groups]
        return drawn.astype(np.float64)

    def log_density(self, values: Floats, count: int) -> Floats:
        chances = self._chances(count)
        return values @ np.log(chances / (1 - chances)).T + np.log1p(-chances).sum(axis=1)

    def linear(self, values: Floats, count: int) -> Floats:
        chances = self._chances(count)
        logits = np.log(chances / (1 - chances))
        return values @ (logits - logits.mean(axis=0)).T[:, : max(count - 1, 1)]


@dataclass(frozen=True, slots=True)
class Xor:
    """Two columns around ±``separation``; the product of their signs tells the group, 0 or 1."""

    separation: float
    groups: tuple[int, ...] | None = None

    def _corners(self) -> Floats:
        return self.separation * np.array([[[1, -1], [-1, 1]], [[1, 1], [-1, -1]]], np.float64)

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        side = rng.integers(0, 2, groups.size)
        return self._corners()[groups, side] + rng.standard_normal((groups.size, 2))

    def log_density(self, values: Floats, count: int) -> Floats:
        products = np.einsum("nf,gsf->ngs", values, self._corners())
        return logsumexp(products, axis=2)

    def linear(self, values: Floats, count: int) -> Floats:
        return values


@dataclass(frozen=True, slots=True)
class Noise:
    """Columns that tell nothing: normal numbers, or with ``age`` whole years of 18 to 80."""

    width: int = 1
    age: bool = False
    groups: tuple[int, ...] | None = field(default=None)

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        if self.age:
            return rng.integers(18, 81, (groups.size, self.width)).astype(np.float64)
        return rng.standard_normal((groups.size, self.width))

    def log_density(self, values: Floats, count: int) -> Floats:
        return np.zeros((values.shape[0], count))

    def linear(self, values: Floats, count: int) -> Floats:
        return values[:, :0]


@dataclass(frozen=True, slots=True)
class Categories:
    """Useless categories, one column per value: ``sizes`` holds the number of values of each."""

    sizes: tuple[int, ...]
    groups: tuple[int, ...] | None = None

    def draw(self, groups: Ints, count: int, rng: np.random.Generator) -> Floats:
        drawn = [rng.integers(0, size, groups.size) for size in self.sizes]
        return np.hstack(
            [np.eye(size)[values] for size, values in zip(self.sizes, drawn, strict=True)]
        )

    def log_density(self, values: Floats, count: int) -> Floats:
        return np.zeros((values.shape[0], count))

    def linear(self, values: Floats, count: int) -> Floats:
        return values[:, :0]
