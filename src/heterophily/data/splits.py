"""Train, validation and test nodes: checked values, and the rules that draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heterophily.errors import InputError, lookup

PARTS = ("train", "validation", "test")


def _as_masks(values: ArrayLike, part: str, num_nodes: int | None) -> NDArray[np.bool_]:
    """Return boolean masks from masks (any shape) or from a list of node numbers."""
    array = np.asarray(values)
    if array.dtype == np.bool_:
        if num_nodes is not None and array.shape[-1] != num_nodes:
            raise InputError(
                f"the {part} mask has {array.shape[-1]} entries but the graph has {num_nodes} nodes"
            )
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"the {part} set must be a mask or node numbers, got {array.dtype}")
    if num_nodes is None:
        raise InputError(f"the {part} set holds node numbers: pass num_nodes with it")
    mask = np.zeros(num_nodes, np.bool_)
    bad = np.flatnonzero((array < 0) | (array >= num_nodes))
    if bad.size:
        raise InputError(
            f"the {part} set names node {array[bad[0]]}; the graph has {num_nodes} nodes, "
            "numbered from 0"
        )
    mask[array.astype(np.int64)] = True
    return mask


def _check(split: Split | SplitBatch) -> None:
    """Refuse empty or overlapping parts; name the node (and the split) that offends."""
    masks = [np.atleast_2d(getattr(split, part)) for part in PARTS]
    if len({mask.shape for mask in masks}) != 1:
        shapes = ", ".join(f"{part} {mask.shape}" for part, mask in zip(PARTS, masks, strict=True))
        raise InputError(f"the masks of a split must have one shape, got {shapes}")
    for a in range(3):
        empty = np.flatnonzero(~masks[a].any(axis=1))
        if empty.size:
            raise InputError(f"the {PARTS[a]} set of split {empty[0]} is empty")
        for b in range(a + 1, 3):
            both = np.argwhere(masks[a] & masks[b])
            if both.size:
                row, node = both[0]
                raise InputError(
                    f"node {node} is in both the {PARTS[a]} and the {PARTS[b]} set of split {row}"
                )


def _seal(split: Split | SplitBatch, shape: str) -> None:
    """Check the masks of a new value and make them read-only copies."""
    for part in PARTS:
        mask = _as_masks(getattr(split, part), part, None)
        if mask.ndim != shape.count("N") + shape.count("R"):
            raise InputError(
                f"the {part} mask of a {type(split).__name__} has shape {mask.shape}, "
                f"expected {shape}"
            )
        mask = mask.copy()
        mask.setflags(write=False)
        object.__setattr__(split, part, mask)
    _check(split)


def _restore(split: Split | SplitBatch, state: dict[str, Any]) -> None:
    split.__dict__.update(state)
    for part in PARTS:
        getattr(split, part).setflags(write=False)


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the nodes: three masks of shape (N,), disjoint and not empty.

    Node numbers are accepted too, with ``num_nodes``: see :meth:`from_parts`.
    """

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Check the masks and freeze them."""
        _seal(self, "(N,)")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy that went through pickle or another process, read-only as the original."""
        _restore(self, state)

    @classmethod
    def from_parts(
        cls, train: ArrayLike, validation: ArrayLike, test: ArrayLike, *, num_nodes: int
    ) -> Split:
        """Build from masks or lists of node numbers.

        >>> Split.from_parts([0, 1], [2], [3], num_nodes=4).sizes
        (2, 1, 1)
        """
        parts = zip(PARTS, (train, validation, test), strict=True)
        return cls(*(_as_masks(values, part, num_nodes) for part, values in parts))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of training, validation and test nodes."""
        return int(self.train.sum()), int(self.validation.sum()), int(self.test.sum())


@dataclass(frozen=True, eq=False)
class SplitBatch:
    """R splits of one graph: three masks of shape (R, N). Indexing gives a :class:`Split`."""

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Check the masks and freeze them."""
        _seal(self, "(R, N)")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy that went through pickle or another process, read-only as the original."""
        _restore(self, state)

    @classmethod
    def stack(cls, splits: Sequence[Split]) -> SplitBatch:
        """Stack splits of one graph."""
        if not splits:
            raise InputError("a SplitBatch needs at least one split")
        sizes = {split.train.size for split in splits}
        if len(sizes) != 1:
            raise InputError(f"splits of different graphs cannot be stacked: sizes {sorted(sizes)}")
        return cls(*(np.stack([getattr(split, part) for split in splits]) for part in PARTS))

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return int(self.train.shape[1])

    def __len__(self) -> int:
        """Return the number of splits R."""
        return int(self.train.shape[0])

    def __getitem__(self, index: int) -> Split:
        """Return split number ``index``."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no split {index}; there are {len(self)}")
        return Split(*(getattr(self, part)[index] for part in PARTS))

    def __iter__(self) -> Iterator[Split]:
        """Iterate over the splits."""
        return (self[index] for index in range(len(self)))


def _shuffled(items: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Shuffle by sorting raw 64-bit draws: NumPy keeps those streams equal across versions."""
    return items[np.argsort(rng.bit_generator.random_raw(items.size), kind="stable")]


def _labelled(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    labelled = np.flatnonzero(labels >= 0)
    if labelled.size == 0:
        raise InputError("no node has a label: a split needs labelled nodes")
    return labelled


def paper_random_split(
    labels: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    train: float = 0.6,
    validation: float = 0.2,
) -> Split:
    """Draw the paper's "60/20/20" split: the class-balanced rule of GPRGNN.

    ``round(train * N / C)`` training nodes **per class** (all of a smaller class), then
    ``round(validation * N)`` of the rest for validation; what remains is the test set. Unlabelled
    nodes belong to no set and do not count in N. A class smaller than its share of the training
    nodes has no validation and no test nodes: to judge a model on your own graph, use
    :func:`stratified_split`.

    >>> labels = np.arange(100) % 2
    >>> paper_random_split(labels, rng=np.random.default_rng(0)).sizes
    (60, 20, 20)
    """
    labelled = _labelled(labels)
    classes = np.unique(labels[labelled])
    per_class = round(train * labelled.size / classes.size)
    chosen = [_shuffled(np.flatnonzero(labels == k), rng)[:per_class] for k in classes]
    train_mask = np.zeros(labels.size, np.bool_)
    train_mask[np.concatenate(chosen)] = True
    rest = _shuffled(labelled[~train_mask[labelled]], rng)
    num_validation = round(validation * labelled.size)
    if rest.size <= num_validation or num_validation == 0:
        raise InputError(
            f"{labelled.size} labelled nodes in {classes.size} classes leave no node for "
            f"{'validation' if num_validation == 0 else 'testing'}; label more nodes, choose "
            "smaller shares, or give splits of your own"
        )
    return Split.from_parts(
        train_mask, rest[:num_validation], rest[num_validation:], num_nodes=labels.size
    )


SMALLEST_CLASS = 3
"""A class with so many labelled nodes can be in training, validation and test at once."""


def stratified_split(
    labels: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    train: float = 0.6,
    validation: float = 0.2,
    test: float = 0.2,
) -> Split:
    """Draw train/validation/test shares within every class, as near as whole nodes allow.

    Each part of a class is within one node of its share. A class of at least three labelled nodes
    is in all three parts; of two nodes one trains and one is tested; a single node trains. Shares
    may add up to less than one; the remaining nodes belong to no set.

    >>> labels = np.arange(40) % 4
    >>> stratified_split(labels, rng=np.random.default_rng(0)).sizes
    (24, 8, 8)
    """
    shares = np.array([train, validation, test])
    if (shares <= 0).any() or shares.sum() > 1 + 1e-9:
        raise InputError(
            f"shares train={train}, validation={validation}, test={test} must be positive and add "
            "up to at most 1"
        )
    labelled = _labelled(labels)
    wanted = np.append(shares, max(0.0, 1.0 - shares.sum()))  # the last: nodes of no set
    owed = np.zeros(4)  # what the parts lack so far: later classes make up for it
    parts: list[list[NDArray[np.int64]]] = [[], [], []]
    for k in np.unique(labels[labelled]):
        nodes = _shuffled(np.flatnonzero(labels == k), rng)
        sizes = _part_sizes(nodes.size, wanted, owed)
        owed += wanted * nodes.size - sizes
        for part, piece in zip(parts, np.split(nodes, np.cumsum(sizes[:3]))[:3], strict=True):
            part.append(piece)
    if not all(sum(piece.size for piece in part) for part in parts):
        raise InputError(
            f"{labelled.size} labelled nodes leave a part of the split empty; label at least "
            f"{SMALLEST_CLASS} nodes of a class, or give splits of your own"
        )
    return Split.from_parts(*(np.concatenate(part) for part in parts), num_nodes=labels.size)


def _part_sizes(
    count: int, shares: NDArray[np.float64], owed: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Divide ``count`` nodes of a class by shares; what is left over goes to who lacks most."""
    if count < SMALLEST_CLASS:
        return np.array([[1, 0, 0, 0], [1, 0, 1, 0]][count - 1])
    sizes = np.floor(shares * count + 1e-9).astype(np.int64)
    lacking = shares * count - sizes
    first = np.argsort(-(lacking + owed), kind="stable")
    first = first[lacking[first] > 1e-9]
    sizes[first[: count - int(sizes.sum())]] += 1
    for part in np.flatnonzero(sizes[:3] == 0):
        giver = 3 if sizes[3] else int(sizes[:3].argmax())
        sizes[giver] -= 1
        sizes[part] += 1
    return sizes


DRAWS: Mapping[str, Callable[..., Split]] = {
    "random": stratified_split,
    "paper-random": paper_random_split,
}
"""Split rules that draw: ``random`` is for any graph, ``paper-random`` reproduces the paper."""


def random_splits(
    labels: NDArray[np.int64], *, repeats: int, seed: int, rule: str = "random"
) -> SplitBatch:
    """Draw ``repeats`` random 60/20/20 splits; split i depends on ``(seed, i)`` alone.

    ``rule`` is ``"random"`` (:func:`stratified_split`) or ``"paper-random"``
    (:func:`paper_random_split`).
    """
    draw = lookup(DRAWS, "rule of random splits", rule)
    if repeats < 1:
        raise InputError(f"repeats={repeats}; ask for at least one split")
    return SplitBatch.stack(
        [draw(labels, rng=split_generator(seed, index)) for index in range(repeats)]
    )


def check_seed(seed: int) -> None:
    """Refuse a seed that is no whole number, or negative."""
    if not isinstance(seed, int | np.integer):
        raise InputError(f"seed={seed!r}; a seed is a whole number")
    if seed < 0:
        raise InputError(f"seed={seed}; seeds are not negative")


def split_generator(seed: int, index: int) -> np.random.Generator:
    """Return the generator of split number ``index`` under ``seed``."""
    check_seed(seed)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, index])))
