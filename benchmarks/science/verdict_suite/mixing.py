"""Odds of block pairs, from a few words: alike, opposite, paired, cyclic, indifferent."""

from __future__ import annotations

import numpy as np

from verdict_suite.edges import Layer, Matrix


def matrix(values: object) -> Matrix:
    """Return an array of odds as a value that can be hashed and printed."""
    return tuple(tuple(round(float(v), 6) for v in row) for row in np.asarray(values))


def alike(classes: int, own: float) -> Matrix:
    """A share ``own`` of the neighbours is of the own class, the others are spread evenly."""
    rest = (1.0 - own) / (classes - 1)
    return matrix(np.full((classes, classes), rest) + (own - rest) * np.eye(classes))


def indifferent(classes: int) -> Matrix:
    """Every pair of classes is as likely as chance."""
    return matrix(np.ones((classes, classes)))


def follow(partners: tuple[int, ...], strength: float = 1.0) -> Matrix:
    """A share ``strength`` of the neighbours of class c is of class ``partners[c]``."""
    classes = len(partners)
    rest = (1.0 - strength) / (classes - 1)
    odds = np.full((classes, classes), rest)
    odds[np.arange(classes), partners] = strength
    return matrix(odds)


def paired(classes: int, strength: float = 1.0) -> Matrix:
    """Classes 0 and 1, 2 and 3, ... are each other's neighbours."""
    return follow(tuple(c ^ 1 for c in range(classes)), strength)


def in_pairs(classes: int, own: float, partner: float) -> Matrix:
    """Neighbours are of the own class or of its partner, hardly ever of another class."""
    rest = (1.0 - own - partner) / max(classes - 2, 1)
    odds = np.full((classes, classes), rest)
    odds[np.arange(classes), np.arange(classes) ^ 1] = partner
    np.fill_diagonal(odds, own)
    return matrix(odds)


def ring(classes: int, strength: float = 1.0) -> Matrix:
    """Class c is linked to c - 1 and c + 1."""
    odds = np.full((classes, classes), (1.0 - strength) / max(classes - 2, 1))
    for step in (-1, 1):
        odds[np.arange(classes), (np.arange(classes) + step) % classes] = strength / 2
    return matrix(odds)


def onward(classes: int, strength: float = 1.0) -> Matrix:
    """Class c points to class c + 1 (for directed edges)."""
    return follow(tuple((c + 1) % classes for c in range(classes)), strength)


def two_sides(across: Matrix) -> Matrix:
    """A bipartite graph of two sides with the same classes; ``across`` holds the odds between."""
    odds = np.array(across)
    none = np.zeros_like(odds)
    return matrix(np.block([[none, odds], [odds.T, none]]))


def of_groups(groups: tuple[int, ...], odds: Matrix) -> Matrix:
    """Blocks are linked as the groups they belong to are."""
    return matrix(np.array(odds)[np.ix_(groups, groups)])


def rewired(affinity: Matrix, noise: float) -> tuple[Layer, ...]:
    """A share ``noise`` of the edges ignores the blocks."""
    return (
        Layer(affinity, 1.0 - noise),
        Layer(indifferent(len(affinity)), noise),
    )
