"""What the best possible rule reaches from each source of information, for a recipe and a seed.

==================== ============================================================================
source               who may look at what
==================== ============================================================================
own                  a node's features
low                  ÂX alone, the mean over a node and its neighbours
neighbours_features  the features of all neighbours
neighbours_labels    the labels of all neighbours (and how many they are)
structure            which nodes the neighbours are, for someone who knows every node's block
own_features         own features and those of the neighbours
own_labels           own features, features and labels of the neighbours
everything           all of it
==================== ============================================================================

Block models: exact posteriors under the true parameters (``bayes``); *low* is the best of a linear
and a quadratic discriminant, logistic regression and trees, fitted on other graphs of the same
recipe (``fitted``). Recipes with a rule: all sources are fitted in this way. Scores are taken on
fresh graphs of the same recipe, enough of them that chance matters little.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from heterophily.evaluation.scores import SCORES, score_for
from verdict_suite import bayes, fitted
from verdict_suite.edges import BlockEdges, adjusted_homophily, label_informativeness
from verdict_suite.generate import Recipe, Sample, draw, generator, seeded_sample
from verdict_suite.truth import Numbers

Floats = NDArray[np.float64]

FIT_NODES = 8_000
TEST_NODES = 16_000
RARE_NODES = 300  # of the smallest class, in the test graphs
MOST_NODES = 60_000


def method(recipe: Recipe) -> str:
    """Say how the scores of a recipe are found: ``"bayes"`` or ``"fitted"``."""
    return "bayes" if recipe.rule is None else "fitted"


def oracle(recipe: Recipe, seed: int) -> Numbers:
    """Return the numbers of a recipe; ``seed`` numbers the graphs they are measured on."""
    score = score_for(seeded_sample(recipe, seed).labels)
    rare = min(shares_of_classes(recipe))
    nodes = min(max(TEST_NODES, round(RARE_NODES / rare)), MOST_NODES)
    fit = fresh(recipe, seed, 2, max(FIT_NODES, nodes // 2))
    test = fresh(recipe, seed, 3, nodes)
    if recipe.rule is None:
        chances = exact(recipe, fit, test, score)
        joint = class_joint(recipe)
    else:
        chances = learned(recipe, fit, test, score)
        joint = observed_joint(test)
    labels = np.concatenate([sample.labels for sample in test])
    largest = np.bincount(labels).max() / labels.size
    return Numbers(
        score=score,
        chance=0.5 if score == "roc-auc" else float(largest),
        scores={name: SCORES[score](labels, values) for name, values in chances.items()},
        adjusted_homophily=adjusted_homophily(joint),
        label_informativeness=label_informativeness(joint),
    )


def fresh(recipe: Recipe, seed: int, purpose: int, nodes: int) -> list[Sample]:
    """Draw graphs of a recipe with so many nodes together."""
    count = -(-nodes // recipe.nodes)
    return [draw(recipe, generator(recipe.name, seed, purpose, k)) for k in range(count)]


def exact(recipe: Recipe, fit: list[Sample], test: list[Sample], score: str) -> dict[str, Floats]:
    """Return the probabilities of the classes, source by source, for a block model."""
    chances = stacked(bayes.posteriors(sample) for sample in test)
    if bayes.averaged_columns(test[0]) is None:
        return chances
    rule = fitted.BestOf(
        np.concatenate([bayes.averaged_columns(sample) for sample in fit]),
        np.concatenate([sample.labels for sample in fit]),
        score,
        recipe.num_classes,
    )
    seen = np.concatenate([bayes.averaged_columns(sample) for sample in test])
    return {**chances, "low": rule(seen)}


def learned(recipe: Recipe, fit: list[Sample], test: list[Sample], score: str) -> dict[str, Floats]:
    """Return the probabilities of the classes, source by source, for a recipe with a rule."""
    labels = np.concatenate([sample.labels for sample in fit])
    known, asked = (stacked(fitted.statistics(s) for s in samples) for samples in (fit, test))
    return {
        name: fitted.BestOf(known[name], labels, score, recipe.num_classes)(values)
        for name, values in asked.items()
    }


def stacked(tables: Iterable[dict[str, Floats]]) -> dict[str, Floats]:
    """Put the rows of several graphs below each other, name by name."""
    rows = list(tables)
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def shares_of_classes(recipe: Recipe) -> Floats:
    """Return the share of each class, (C,)."""
    if recipe.rule is not None and recipe.rule.classes != len(recipe.shares):
        return np.full(recipe.rule.classes, 1 / recipe.rule.classes)
    return np.bincount(recipe.class_of, recipe.block_shares)


def class_joint(recipe: Recipe) -> Floats:
    """Return the joint matrix (C, C) of the classes at the two ends of an edge: exact."""
    assert isinstance(recipe.edges, BlockEdges)
    one_hot = np.eye(recipe.num_classes)[recipe.class_of]
    return np.asarray(one_hot.T @ recipe.edges.mean_joint(recipe.block_shares) @ one_hot)


def observed_joint(samples: list[Sample]) -> Floats:
    """Return the same, counted on many graphs."""
    total = np.zeros((samples[0].recipe.num_classes,) * 2)
    for sample in samples:
        one_hot = np.eye(total.shape[0])[sample.labels]
        total += one_hot.T @ (sample.adjacency @ one_hot)
    return total / total.sum()
