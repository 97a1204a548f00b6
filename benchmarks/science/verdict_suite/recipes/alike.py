"""Neighbours that are of the same class more often than by chance."""

from __future__ import annotations

from verdict_suite.columns import Gaussian, Noise, Words
from verdict_suite.edges import BlockEdges, Layer
from verdict_suite.generate import Recipe
from verdict_suite.mixing import alike, rewired

ALIKE = (
    Recipe(
        "homophilic/three",
        "three classes, 75 % of the neighbours alike, good features",
        1500, (1,) * 3,
        BlockEdges((Layer(alike(3, 0.75)),), 6),
        (Gaussian(1.5, 8),),
    ),
    Recipe(
        "homophilic/seven-words",
        "seven classes, 65 % of the neighbours alike, words",
        2500, (1,) * 7,
        BlockEdges((Layer(alike(7, 0.65)),), 4),
        (Words(300, 12, 0.45),),
    ),
    Recipe(
        "denoising/four",
        "own features are noisy; averaging over similar neighbours makes them useful",
        1500, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.65)),), 15),
        (Gaussian(0.6, 6),),
    ),
    Recipe(
        "denoising/two",
        "the same with two classes and one column",
        2500, (1, 1),
        BlockEdges((Layer(alike(2, 0.72)),), 18),
        (Gaussian(0.4, 1),),
    ),
    Recipe(
        "homophilic-sure/four",
        "features tell the class almost surely, and so do neighbours",
        1200, (1,) * 4,
        BlockEdges((Layer(alike(4, 0.9)),), 8),
        (Gaussian(5.0, 8),),
    ),
    Recipe(
        "homophilic-sure/words",
        "long texts tell the class almost surely, and so do neighbours",
        1500, (1,) * 5,
        BlockEdges((Layer(alike(5, 0.85)),), 10),
        (Words(400, 40, 1.0),),
    ),
    Recipe(
        "homophilic-rewired/third",
        "a third of the edges of a homophilic graph is rewired at random",
        1800, (1,) * 5,
        BlockEdges(rewired(alike(5, 0.95), 0.33), 8),
        (Gaussian(1.4, 10),),
    ),
    Recipe(
        "homophilic-rewired/half",
        "more than half of the edges of a homophilic graph is rewired at random",
        2200, (1,) * 8,
        BlockEdges(rewired(alike(8, 1.0), 0.55), 12),
        (Gaussian(1.6, 12),),
    ),
    Recipe(
        "homophilic-noise-columns/six",
        "homophilic, all columns useless",
        1500, (1,) * 6,
        BlockEdges((Layer(alike(6, 0.7)),), 7),
        (Noise(10),),
    ),
    Recipe(
        "homophilic-noise-columns/two",
        "homophilic, one useless column",
        1000, (1, 1),
        BlockEdges((Layer(alike(2, 0.8)),), 6),
        (Noise(1, age=True),),
    ),
    Recipe(
        "faintly-alike/two",
        "slightly similar neighbours, many of them, noisy features: averaging helps all the same",
        2000, (1, 1),
        BlockEdges((Layer(alike(2, 0.61)),), 20),
        (Gaussian(0.35, 4),),
    ),
    Recipe(
        "faintly-alike/five",
        "the same with five classes",
        3000, (1,) * 5,
        BlockEdges((Layer(alike(5, 0.36)),), 18),
        (Gaussian(0.4, 8),),
    ),
    Recipe(
        "twenty-alike/degree-five",
        "twenty classes, homophilic",
        3000, (1,) * 20,
        BlockEdges((Layer(alike(20, 0.6)),), 5),
        (Gaussian(2.2, 24),),
    ),
    Recipe(
        "twenty-alike/words",
        "fifteen classes, homophilic, words",
        3000, (1,) * 15,
        BlockEdges((Layer(alike(15, 0.7)),), 6),
        (Words(500, 14, 0.6),),
    ),
    Recipe(
        "rare-alike/one-in-twenty",
        "a class of 5 % whose members know each other",
        2500, (0.95, 0.05),
        BlockEdges((Layer(((1.0, 0.15), (0.15, 1.0))),), 8),
        (Gaussian(1.2, 5),),
    ),
    Recipe(
        "rare-alike/one-in-hundred",
        "a class of 1 % whose members know each other",
        3000, (0.99, 0.01),
        BlockEdges((Layer(((1.0, 0.06), (0.06, 1.0))),), 8),
        (Gaussian(1.2, 5),),
    ),
)  # fmt: skip
