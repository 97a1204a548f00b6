"""Edges that tell nothing about the classes, and columns that do or do not."""

from __future__ import annotations

from verdict_suite.columns import Categories, Gaussian, Noise, Words
from verdict_suite.edges import BlockEdges, Layer
from verdict_suite.generate import Recipe
from verdict_suite.mixing import alike, indifferent, of_groups, two_sides

COMMUNITIES = tuple(community for community in range(6) for _ in range(3))  # block -> community
CLASS_WITHIN = tuple(c for _ in range(6) for c in range(3))  # block -> class

USELESS = (
    Recipe(
        "random-edges/four",
        "useful columns, edges at random",
        1500, (1,) * 4,
        BlockEdges((Layer(indifferent(4)),), 6),
        (Gaussian(1.8, 8),),
    ),
    Recipe(
        "random-edges/words",
        "useful words, edges at random",
        2000, (1,) * 6,
        BlockEdges((Layer(indifferent(6)),), 4),
        (Words(400, 18, 0.5),),
    ),
    Recipe(
        "random-everything/two",
        "two classes, useless columns, edges at random",
        1500, (1, 1),
        BlockEdges((Layer(indifferent(2)),), 5),
        (Noise(10),),
    ),
    Recipe(
        "random-everything/eight",
        "eight classes, useless columns, edges at random",
        2000, (1,) * 8,
        BlockEdges((Layer(indifferent(8)),), 10),
        (Noise(4), Categories((5, 3))),
    ),
    Recipe(
        "twenty-random/twenty",
        "twenty classes, useful columns, edges at random",
        3000, (1,) * 20,
        BlockEdges((Layer(indifferent(20)),), 8),
        (Gaussian(2.6, 24),),
    ),
    Recipe(
        "twenty-random/fifteen",
        "fifteen classes, useful columns, few edges at random",
        2000, (1,) * 15,
        BlockEdges((Layer(indifferent(15)),), 3),
        (Gaussian(2.4, 20),),
    ),
    Recipe(
        "rare-random/one-in-ten",
        "a class of 10 %, useful columns, edges at random",
        2000, (0.9, 0.1),
        BlockEdges((Layer(indifferent(2)),), 6),
        (Gaussian(1.3, 6),),
    ),
    Recipe(
        "rare-random/one-in-hundred",
        "a class of 1 %, useful columns, edges at random",
        3000, (0.99, 0.01),
        BlockEdges((Layer(indifferent(2)),), 6),
        (Gaussian(1.8, 6),),
    ),
    Recipe(
        "unequal-classes/random",
        "four classes of 60, 25, 10 and 5 %, useful columns, edges at random",
        2000, (0.6, 0.25, 0.1, 0.05),
        BlockEdges((Layer(indifferent(4)),), 6),
        (Gaussian(2.2, 8),),
    ),
    Recipe(
        "unequal-classes/never-alike",
        "four classes of 45, 30, 15 and 10 %, neighbours never alike, useful columns",
        2000, (0.45, 0.3, 0.15, 0.1),
        BlockEdges((Layer(alike(4, 0.01)),), 4),
        (Gaussian(2.0, 8),),
    ),
    Recipe(
        "idle-communities/plain",
        "clear communities that have nothing to do with the classes; useful columns",
        1800, (1,) * 18,
        BlockEdges((Layer(of_groups(COMMUNITIES, alike(6, 0.9))),), 8),
        (Gaussian(1.7, 6),), CLASS_WITHIN,
    ),
    Recipe(
        "idle-communities/with-columns",
        "the same; further columns tell the community, which is of no use",
        1800, (1,) * 18,
        BlockEdges((Layer(of_groups(COMMUNITIES, alike(6, 0.85))),), 10),
        (Gaussian(1.9, 6), Gaussian(2.0, 8, groups=COMMUNITIES)), CLASS_WITHIN,
    ),
    Recipe(
        "blind-dates/age",
        "a bipartite graph of random partners; one useless column",
        1500, (1,) * 6,
        BlockEdges((Layer(two_sides(indifferent(3))),), 4),
        (Noise(1, age=True),), (0, 1, 2, 0, 1, 2),
    ),
    Recipe(
        "blind-dates/categories",
        "a bipartite graph of random partners; useless categories",
        1800, (1,) * 8,
        BlockEdges((Layer(two_sides(indifferent(4))),), 5),
        (Categories((6, 4, 3, 8)), Noise(1, age=True)), (0, 1, 2, 3, 0, 1, 2, 3),
    ),
    Recipe(
        "small-random/three",
        "300 nodes, useful columns, edges at random",
        300, (1,) * 3,
        BlockEdges((Layer(indifferent(3)),), 5),
        (Gaussian(2.0, 6),),
    ),
    Recipe(
        "small-random/five",
        "250 nodes, useful words, edges at random",
        250, (1,) * 5,
        BlockEdges((Layer(indifferent(5)),), 4),
        (Words(200, 25, 0.6),),
    ),
    Recipe(
        "bare-random/three",
        "no columns, edges at random",
        1200, (1,) * 3,
        BlockEdges((Layer(indifferent(3)),), 6),
    ),
    Recipe(
        "bare-random/eight",
        "no columns, eight classes, edges at random",
        2000, (1,) * 8,
        BlockEdges((Layer(indifferent(8)),), 10, spread=0.8),
    ),
)  # fmt: skip
