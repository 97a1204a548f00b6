"""From training to a trained model: the members, their scores, and a card that tells it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch
from heterophily.evaluation.scores import all_scores, expected_calibration_error
from heterophily.experiments.records import split_digest
from heterophily.experiments.train_report import TrainReport
from heterophily.layers.inputs import GraphInputs
from heterophily.prediction.auto import AutoResult
from heterophily.prediction.calibration import fit_temperature, tempered
from heterophily.prediction.estimate import SCALED
from heterophily.prediction.members import Sizes, network_logits, softmax
from heterophily.prediction.model import GraphFacts, Network, TrainedModel, Vote
from heterophily.training.config import TrainConfig


def model_of(
    result: AutoResult,
    *,
    rule: str,
    seed: int,
    feature_names: Sequence[str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Return the ensemble that ``auto`` chose, with its story on the card."""
    networks, votes = [], []
    for number, trial in enumerate(result.ensemble.trials):
        candidate = trial.candidate
        config = candidate.config.replace(**result.config)
        networks.append(Network(candidate.model, dict(candidate.options), config.to_dict()))
        votes += [Vote(number, m.state, m.split, m.seed) for m in trial.members.values()]
    card = {
        "recipe": "auto",
        "splits": splits_card(result.folds, rule, seed),
        "metrics": result.to_dict()["test"],
        "choice": result.to_dict(),
        **(extra or {}),
    }
    return TrainedModel(
        networks=tuple(networks),
        votes=tuple(votes),
        class_names=result.graph.class_names,
        trained_on=GraphFacts.of(result.graph, feature_names),
        temperature=result.temperature,
        card=card,
    )


def splits_card(splits: SplitBatch, rule: str, seed: int) -> dict[str, Any]:
    """Return what a card says about splits."""
    return {
        "rule": rule,
        "seed": seed,
        "count": len(splits),
        "sizes": list(splits[0].sizes),
        "digests": [split_digest(split) for split in splits],
    }


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of a report's replicas, each on the test nodes of its own split.

    ``temperature`` is fitted on the validation nodes of all replicas; the score
    ``calibration-error-scaled`` is measured with it.
    """

    values: Mapping[str, tuple[float, ...]]
    temperature: float

    def to_dict(self) -> dict[str, Any]:
        """Return mean, std and values of each score; an undefined score is None."""
        found: dict[str, Any] = {}
        for name, values in self.values.items():
            is_defined = bool(np.isfinite(values).all())
            found[name] = {
                "mean": float(np.mean(values)) if is_defined else None,
                "std": float(np.std(values)) if is_defined else None,
                "values": [value if np.isfinite(value) else None for value in values],
            }
        return found


def score_report(report: TrainReport, graph: Graph, splits: SplitBatch, network: Network) -> Scored:
    """Score every replica of a report beyond accuracy; the report must hold their states."""
    inputs = GraphInputs.from_graph(graph, network.spec.inputs)
    sizes = Sizes(inputs.num_nodes, inputs.num_features, graph.num_classes)
    judged: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    truth, votes = [], []
    for number, result in sorted(report.results.by_replica.items()):
        built = sizes.build(network.spec)
        assert result.state is not None
        built.load_state_dict({name: value.cpu() for name, value in result.state.items()})
        probabilities = softmax(network_logits(built, inputs))
        split = splits[number % len(splits)]
        rows, tested = np.flatnonzero(split.validation), np.flatnonzero(split.test)
        truth.append(graph.labels[rows])
        votes.append(probabilities[rows])
        judged.append((graph.labels[tested], probabilities[tested]))
    temperature = fit_temperature(np.concatenate(truth), np.concatenate(votes))
    values: dict[str, list[float]] = {}
    for labels, probabilities in judged:
        after = expected_calibration_error(labels, tempered(probabilities, temperature))
        scores = {**all_scores(labels, probabilities), SCALED: after}
        for name, value in scores.items():
            values.setdefault(name, []).append(value)
    return Scored({name: tuple(found) for name, found in values.items()}, temperature)


def model_of_report(
    report: TrainReport,
    graph: Graph,
    splits: SplitBatch,
    network: Network,
    scored: Scored,
    *,
    seed: int,
    feature_names: Sequence[str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Return the replicas of a report as one ensemble.

    Its members were trained on different splits, so a test node of one may be a training node of
    another: the metrics on the card are those of single replicas, each on its own test nodes.
    """
    votes = []
    for number, result in sorted(report.results.by_replica.items()):
        assert result.state is not None
        state = {name: value.cpu() for name, value in result.state.items()}
        votes.append(Vote(0, state, number % len(splits), number // len(splits)))
    card = {
        "recipe": "train",
        "splits": splits_card(splits, report.split_rule, seed),
        "metrics": scored.to_dict(),
        "metrics_note": "of single replicas, each on the test nodes of its own split",
        **(extra or {}),
    }
    return TrainedModel(
        networks=(network,),
        votes=tuple(votes),
        class_names=graph.class_names,
        trained_on=GraphFacts.of(graph, feature_names),
        temperature=scored.temperature,
        card=card,
    )


def network_of(report: TrainReport, options: Mapping[str, Any], config: TrainConfig) -> Network:
    """Return the network of a report that was trained with these options."""
    return Network(report.model, dict(options), config.to_dict())
