"""From training to a trained model: the members, their scores, and a card that tells it all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterophily.comparison.train_report import TrainReport
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.splits import SplitBatch
from heterophily.evaluation.evaluate import ScoreValue
from heterophily.evaluation.scores import expected_calibration_error
from heterophily.prediction.calibration import fit_temperature, tempered
from heterophily.prediction.estimate import CALIBRATION, SCALED
from heterophily.prediction.model import GraphFacts, Network, TrainedModel, Vote
from heterophily.prediction.result import AutoResult
from heterophily.runs.model import spec_with
from heterophily.runs.run import split_digest
from heterophily.training.config import TrainConfig


def model_of(
    result: AutoResult,
    *,
    rule: str = "folds",
    seed: int = 0,
    extra: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Return the ensemble that ``auto`` chose, ready for :func:`save_model`."""
    networks, votes = [], []
    for number, trial in enumerate(result.ensemble.trials):
        candidate = trial.candidate
        config = candidate.config.replace(**result.config)
        networks.append(
            Network.on(result.graph, candidate.model, candidate.options, config.to_dict())
        )
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
        trained_on=GraphFacts.of(result.graph, networks),
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
class Calibrated:
    """How far the probabilities of a report's replicas can be trusted, on their test nodes.

    ``temperature`` is fitted on the validation nodes of all replicas; ``errors`` and
    ``scaled_errors`` are the calibration errors of each replica before and after it.
    """

    temperature: float
    errors: tuple[float, ...]
    scaled_errors: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return both calibration errors as plain data, beside the other scores."""
        named = {CALIBRATION: self.errors, SCALED: self.scaled_errors}
        return {name: ScoreValue(values).to_dict() for name, values in named.items()}


def calibrate_report(report: TrainReport) -> Calibrated:
    """Fit a temperature to the replicas of a report; the report must hold their states."""
    assert report.source is not None
    labels, splits = np.asarray(report.source.labels, np.int64), report.splits
    truth, votes, judged = [], [], []
    for number, result in sorted(report.results.by_replica.items()):
        assert result.probabilities is not None
        probabilities = result.probabilities
        split = splits[number % len(splits)]
        truth.append(labels[split.validation])
        votes.append(probabilities[split.validation])
        judged.append((labels[split.test], probabilities[split.test]))
    temperature = fit_temperature(np.concatenate(truth), np.concatenate(votes))
    return Calibrated(
        temperature,
        tuple(expected_calibration_error(*pair) for pair in judged),
        tuple(
            expected_calibration_error(known, tempered(guessed, temperature))
            for known, guessed in judged
        ),
    )


def model_of_report(
    report: TrainReport,
    network: Network,
    calibrated: Calibrated,
    *,
    seed: int,
    extra: Mapping[str, Any] | None = None,
) -> TrainedModel:
    """Return the replicas of a report as one ensemble.

    Its members were trained on different splits, so a test node of one may be a training node of
    another: the metrics on the card are those of single replicas, each on its own test nodes.
    """
    graph, splits = report.source, report.splits
    assert graph is not None
    votes = []
    for number, result in sorted(report.results.by_replica.items()):
        assert result.state is not None
        state = {name: value.cpu() for name, value in result.state.items()}
        votes.append(Vote(0, state, number % len(splits), number // len(splits)))
    card = {
        "recipe": "train",
        "splits": splits_card(splits, report.split_rule, seed),
        "metrics": report.evaluation.to_dict()["scores"] | calibrated.to_dict(),
        "metrics_note": "of single replicas, each on the test nodes of its own split",
        **(extra or {}),
    }
    return TrainedModel(
        networks=(network,),
        votes=tuple(votes),
        class_names=graph.class_names,
        trained_on=GraphFacts.of(graph, [network]),
        temperature=calibrated.temperature,
        card=card,
    )


def network_of(report: TrainReport, options: Mapping[str, Any], config: TrainConfig) -> Network:
    """Return the network of a report that was trained with these options."""
    assert report.source is not None
    usual = spec_with(report.model, options).inputs.row_normalize
    if usual and report.hyperparameters.get("row_normalize") is False:  # the data decided so
        options = {**options, "row_normalize": False}
    if isinstance(report.source, DiskGraph):
        kind = report.hyperparameters.get("features", "counts")
        return Network(report.model, {**options, "features": kind}, config.to_dict())
    return Network.on(report.source, report.model, options, config.to_dict())
