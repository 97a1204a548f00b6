"""Labels or columns that follow from the neighbours."""

from __future__ import annotations

from verdict_suite.columns import Noise
from verdict_suite.edges import BlockEdges, Lattice, Layer
from verdict_suite.generate import Recipe
from verdict_suite.mixing import indifferent
from verdict_suite.rules import Agreement, DegreeBucket, Difference, Mines, NeighboursFeatures

ANYBODY = (Layer(indifferent(1)),)

DERIVED = (
    Recipe(
        "mines/board",
        "minesweeper: mines of 20 % on a board, half of the counts hidden",
        2500, (0.8, 0.2),
        Lattice(),
        rule=Mines(hidden=0.5),
    ),
    Recipe(
        "mines/random-graph",
        "mines of 15 % in a random graph, a fifth of the counts hidden",
        2000, (0.85, 0.15),
        BlockEdges((Layer(indifferent(2)),), 6),
        rule=Mines(hidden=0.2),
    ),
    Recipe(
        "difference/two",
        "the class says whether a node lies above its neighbours",
        1500, (1,),
        BlockEdges(ANYBODY, 4),
        (Noise(3),),
        rule=Difference(2, noise=0.05),
    ),
    Recipe(
        "difference/three",
        "three classes by how far a node lies above its neighbours",
        2000, (1,),
        BlockEdges(ANYBODY, 6),
        (Noise(2),),
        rule=Difference(3, noise=0.1),
    ),
    Recipe(
        "neighbours-features/two",
        "the neighbours' mean of a column decides the class, the own value does not",
        1500, (1,),
        BlockEdges(ANYBODY, 5),
        (Noise(3),),
        rule=NeighboursFeatures(2, noise=0.1),
    ),
    Recipe(
        "neighbours-features/four",
        "the same with four classes and more neighbours",
        2500, (1,),
        BlockEdges(ANYBODY, 8),
        (Noise(2),),
        rule=NeighboursFeatures(4, noise=0.1),
    ),
    Recipe(
        "degree/two",
        "the class says whether a node has many neighbours; useless columns",
        1500, (1,),
        BlockEdges(ANYBODY, 6, spread=0.8),
        (Noise(4),),
        rule=DegreeBucket(2, noise=0.05),
    ),
    Recipe(
        "degree/three",
        "three classes by the number of neighbours; useless columns",
        2000, (1,),
        BlockEdges(ANYBODY, 10, spread=1.0),
        (Noise(2), Noise(1, age=True)),
        rule=DegreeBucket(3, noise=0.05),
    ),
    Recipe(
        "degree-and-columns/two",
        "the class says whether a node has many neighbours; a column tells it too, noisily",
        1500, (1,),
        BlockEdges(ANYBODY, 6, spread=0.8),
        (Noise(3),),
        rule=DegreeBucket(2, noise=0.15, shown=1.6),
    ),
    Recipe(
        "degree-and-columns/three",
        "the same with three classes",
        2000, (1,),
        BlockEdges(ANYBODY, 10, spread=0.6),
        (Noise(2),),
        rule=DegreeBucket(3, noise=0.2, shown=1.5),
    ),
    Recipe(
        "agreement/few-neighbours",
        "the class says whether a node and its neighbours have the same sign in a column",
        1500, (1,),
        BlockEdges(ANYBODY, 4),
        (Noise(2),),
        rule=Agreement(noise=0.05),
    ),
    Recipe(
        "agreement/more-neighbours",
        "the same with more neighbours and more noise",
        2500, (1,),
        BlockEdges(ANYBODY, 8),
        (Noise(3),),
        rule=Agreement(noise=0.15),
    ),
)  # fmt: skip
