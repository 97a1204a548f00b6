"""Which columns a model of trees relies on: their share in the total gain of all splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heterophily.data.encode.encoder import Encoder
from heterophily.models.trees import TreesModel
from heterophily.prediction.members import Sizes
from heterophily.prediction.model import TrainedModel

SHOWN = 8
"""So many columns are listed."""

BLOCK_WORDS = {
    "own": "its own {}",
    "low": "the mean of {} over its neighbours",
    "high": "the difference of {} to its neighbours",
    "low-2": "the mean of {} two steps away",
    "labels": "the share of {} among the labels of its neighbours",
    "labels-2": "the share of {} among the labels two steps away",
}
COUNT_WORDS = {
    "degree": "its number of neighbours",
    "neighbour-degree": "how many neighbours its neighbours have",
    "labels": "the number of its neighbours with a known label",
    "labels-2": "the number of known labels two steps away",
}


@dataclass(frozen=True)
class FeatureShare:
    """A column in words, and its share in the total gain, mean over the members."""

    name: str
    share: float


def feature_shares(model: TrainedModel) -> tuple[FeatureShare, ...]:
    """Return the columns that matter most to the trees of a model; empty without trees."""
    facts = model.trained_on
    names = facts.feature_names
    if facts.encoder is not None:  # one column of the table is several features
        names = Encoder.from_dict(facts.encoder).feature_names
    sizes = Sizes(facts.num_nodes, facts.num_features or facts.num_nodes, len(model.class_names))
    totals: dict[tuple[str, int | None], float] = {}
    for vote in model.votes:
        built = model.network(vote, sizes)
        if isinstance(built, TreesModel):
            for column, share in built.gains().items():
                totals[column] = totals.get(column, 0.0) + share / len(model.votes)
    ranked = sorted(totals.items(), key=lambda pair: -pair[1])[:SHOWN]
    return tuple(
        FeatureShare(_words(*column, names, model.class_names), share) for column, share in ranked
    )


def _words(
    block: str, number: int | None, names: Sequence[str] | None, classes: Sequence[str]
) -> str:
    if number is None:
        return COUNT_WORDS[block]
    if block in COUNT_WORDS:
        return BLOCK_WORDS[block].format(classes[number])
    return BLOCK_WORDS[block].format(f"feature {number}" if names is None else names[number])
