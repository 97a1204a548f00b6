"""Directed, weighted, isolated, bipartite with two sides, hubs, odd columns, large graphs."""

from __future__ import annotations

from verdict_suite.columns import Categories, Gaussian, Noise
from verdict_suite.edges import BlockEdges, Layer
from verdict_suite.generate import Recipe
from verdict_suite.mixing import (
    alike,
    follow,
    indifferent,
    matrix,
    onward,
    paired,
    rewired,
    ring,
    two_sides,
)

# Hubs: satellites of class g hang on hubs of group g; the class of a hub is drawn at random. Blocks
# 0-2 are the satellites, block 3 + 3 g + c holds the hubs of group g and class c.
HUB_CLASSES = (0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2)


def hubs(loyalty: float) -> tuple[tuple[float, ...], ...]:
    """Odds between satellites and hubs: a satellite's hub is of its group with this odds ratio."""
    odds = [[0.0] * 12 for _ in range(12)]
    for satellite in range(3):
        for hub in range(9):
            value = loyalty if hub // 3 == satellite else 1.0
            odds[satellite][3 + hub] = odds[3 + hub][satellite] = value
    return matrix(odds)


HUB_SHARES = (1.0,) * 3 + (0.02,) * 9
HUB_VOLUMES = (1.0,) * 3 + (1.0 / 0.06,) * 9  # both sides have as many edge ends

# Two hops: users of three classes and items of three topics; all items are of a fourth class.
ITEM_CLASSES = (0, 1, 2, 3, 3, 3)

UNUSUAL = (
    Recipe(
        "dating/age",
        "bipartite, three classes, the class follows the partner's; one useless column",
        1500, (1,) * 6,
        BlockEdges((Layer(two_sides(follow((1, 0, 2), 0.95))),), 4),
        (Noise(1, age=True),), (0, 1, 2, 0, 1, 2),
    ),
    Recipe(
        "dating/categories",
        "bipartite, four classes, the class follows the partner's; several useless categories",
        1800, (1,) * 8,
        BlockEdges((Layer(two_sides(follow((1, 0, 3, 2), 0.92))),), 5),
        (Noise(1, age=True), Categories((6, 4, 3, 8))), (0, 1, 2, 3, 0, 1, 2, 3),
    ),
    Recipe(
        "dating-shift/three",
        "class c of one side meets class c + 1 of the other; useless columns",
        1800, (1,) * 6,
        BlockEdges((Layer(two_sides(onward(3, 0.95))),), 6),
        (Noise(2),), (0, 1, 2, 0, 1, 2),
    ),
    Recipe(
        "dating-shift/with-side",
        "class c of one side meets class c + 1 of the other; a column tells the side",
        1600, (1,) * 8,
        BlockEdges((Layer(two_sides(onward(4, 0.95))),), 6),
        (Gaussian(3.0, 1, groups=(0, 0, 0, 0, 1, 1, 1, 1)), Noise(2)), (0, 1, 2, 3, 0, 1, 2, 3),
    ),
    Recipe(
        "directed/onward",
        "directed: class c points to class c + 1",
        1500, (1,) * 5,
        BlockEdges((Layer(onward(5, 0.9)),), 4, is_directed=True),
        (Gaussian(1.0, 8),),
    ),
    Recipe(
        "directed/alike",
        "directed and homophilic",
        1800, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.75)),), 4, is_directed=True),
        (Gaussian(1.2, 8),),
    ),
    Recipe(
        "weighted/alike",
        "heavy edges join similar nodes, as many light ones join anybody",
        1500, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.9), 0.5, 5.0), Layer(indifferent(4), 0.5, 1.0)), 10),
        (Gaussian(1.2, 8),),
    ),
    Recipe(
        "weighted/paired",
        "heavy edges join paired classes, as many light ones join anybody",
        1600, (1,) * 6,
        BlockEdges((Layer(paired(6, 0.95), 0.5, 4.0), Layer(indifferent(6), 0.5, 1.0)), 12),
        (Gaussian(1.2, 8),),
    ),
    Recipe(
        "isolated/alike",
        "homophilic, two fifths of the nodes have no edge",
        1800, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.8)),), 4, isolated=0.4),
        (Gaussian(1.3, 8),),
    ),
    Recipe(
        "isolated/paired",
        "paired classes, half of the nodes have no edge",
        2000, (1,) * 4,
        BlockEdges((Layer(paired(4, 0.95)),), 4, isolated=0.5),
        (Gaussian(1.3, 8),),
    ),
    Recipe(
        "bare/alike",
        "no columns, homophilic",
        1200, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.7)),), 8),
    ),
    Recipe(
        "bare/paired",
        "no columns, paired classes",
        1500, (1,) * 4,
        BlockEdges((Layer(paired(4, 0.85)),), 8),
    ),
    Recipe(
        "hubs/bare",
        "which hub a node hangs on tells its class, the hub's class does not; no columns",
        2000, HUB_SHARES,
        BlockEdges((Layer(hubs(20.0)),), 4, volumes=HUB_VOLUMES),
        (), HUB_CLASSES,
    ),
    Recipe(
        "hubs/noise-columns",
        "the same with useless columns",
        2500, HUB_SHARES,
        BlockEdges((Layer(hubs(12.0)),), 5, volumes=HUB_VOLUMES),
        (Noise(6),), HUB_CLASSES,
    ),
    Recipe(
        "hubs-useful-columns/some",
        "which hub a node hangs on tells its class; own columns tell something, averages lose it",
        2000, HUB_SHARES,
        BlockEdges((Layer(hubs(8.0)),), 4, volumes=HUB_VOLUMES),
        (Gaussian(1.7, 6),), HUB_CLASSES,
    ),
    Recipe(
        "hubs-useful-columns/more",
        "the same with better columns",
        2500, HUB_SHARES,
        BlockEdges((Layer(hubs(12.0)),), 3, volumes=HUB_VOLUMES),
        (Gaussian(2.0, 8),), HUB_CLASSES,
    ),
    Recipe(
        "two-hops/items",
        "users of three classes pick items of three topics; all items are of a fourth class",
        2000, (1, 1, 1, 0.2, 0.2, 0.2),
        BlockEdges(
            (Layer(two_sides(alike(3, 0.85))),), 5, volumes=(1.0, 1.0, 1.0, 5.0, 5.0, 5.0)
        ),
        (Noise(5),), ITEM_CLASSES,
    ),
    Recipe(
        "two-hops/opposite",
        "neighbours are opposite, neighbours of neighbours alike; columns of little use",
        1600, (1,) * 6,
        BlockEdges((Layer(paired(6, 0.92)),), 7),
        (Gaussian(0.6, 6),),
    ),
    Recipe(
        "scales/random-edges",
        "useful columns on scales from 0.0001 to 10,000, edges at random",
        1500, (1,) * 3,
        BlockEdges((Layer(indifferent(3)),), 6),
        (Gaussian(1.8, 6, decades=8),),
    ),
    Recipe(
        "scales/paired",
        "columns on scales from 0.001 to 1,000, paired classes",
        1600, (1,) * 4,
        BlockEdges((Layer(paired(4, 0.9)),), 6),
        (Gaussian(1.2, 8, decades=6),),
    ),
    Recipe(
        "large/ring",
        "10,000 nodes, a ring of six classes with many other edges",
        10_000, (1,) * 6,
        BlockEdges(rewired(ring(6), 0.25), 10),
        (Gaussian(1.1, 10),),
    ),
    Recipe(
        "large/random-edges",
        "10,000 nodes, useful columns, edges at random",
        10_000, (1,) * 4,
        BlockEdges((Layer(indifferent(4)),), 8),
        (Gaussian(1.6, 10),),
    ),
    Recipe(
        "rare-faint/alike",
        "a class of 12 % that knows its own kind a bit more; weak columns, accuracy sees nothing",
        2500, (0.88, 0.12),
        BlockEdges((Layer(((1.0, 0.55), (0.55, 1.4))),), 16),
        (Gaussian(0.25, 4),),
    ),
    Recipe(
        "rare-faint/unlike",
        "a class of 15 % that meets the others more often; useless columns, accuracy sees nothing",
        3000, (0.85, 0.15),
        BlockEdges((Layer(((1.0, 1.6), (1.6, 0.3))),), 12),
        (Noise(3),),
    ),
    Recipe(
        "few-noise-columns/ring",
        "a ring of five classes, two useless columns",
        1800, (1,) * 5,
        BlockEdges((Layer(ring(5, 0.9)),), 7),
        (Noise(2),),
    ),
    Recipe(
        "few-noise-columns/never-alike",
        "three classes, neighbours never alike, one useless column",
        1500, (1,) * 3,
        BlockEdges((Layer(alike(3, 0.05)),), 6),
        (Noise(1, age=True),),
    ),
    Recipe(
        "many-columns/random-edges",
        "useful columns among 200 useless ones, edges at random",
        1500, (1,) * 3,
        BlockEdges((Layer(indifferent(3)),), 5),
        (Gaussian(2.2, 4), Noise(200)),
    ),
    Recipe(
        "many-columns/paired",
        "useful columns among 150 useless ones, paired classes",
        1600, (1,) * 4,
        BlockEdges((Layer(paired(4, 0.85)),), 5),
        (Gaussian(1.4, 6), Noise(150)),
    ),
)  # fmt: skip
