"""What ``heterophily train`` prints: scores, intervals, settings; or all of it as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heterophily.comparison.train_report import TrainReport
    from heterophily.paper.presets import Recipe
    from heterophily.prediction.build import Calibrated


def step_of(model: str) -> str:
    """Return what a training of a model counts (``Card.step``)."""
    from heterophily.models.catalog import MODELS

    card = getattr(MODELS[model].network, "card", None)
    return "epoch" if card is None else str(card.step)


def show(
    report: TrainReport,
    calibrated: Calibrated,
    recipe: Recipe,
    out: Path | None,
    columns: list[dict[str, Any]],
    *,
    as_json: bool,
) -> None:
    """Print a report, and its remarks to the other stream."""
    data = report.to_dict() | report.evaluation.to_dict()
    data["hyperparameters"] |= recipe.graph
    data["scores"] |= calibrated.to_dict()
    data |= {"temperature": calibrated.temperature, "columns": columns}
    data["remarks"] = [*report.remarks, *report.evaluation.remarks]
    if out is not None:
        data["model_folder"] = str(out)
    if as_json:
        import json as json_module

        print(json_module.dumps(data))
    else:
        print(_text(report, data))
    for remark in data["remarks"]:
        print(f"note: {remark}", file=sys.stderr)


def _text(report: TrainReport, data: dict[str, Any]) -> str:
    """Return the report as lines for people; scores are fractions."""
    from heterophily.data.wording import count
    from heterophily.report.evaluation_text import evaluation_lines, plus_minus

    splits = count(len(report.results), f"{report.split_rule} split")
    lines = [
        f"{report.model} on {report.graph}, {splits}",
        *evaluation_lines(report.evaluation),
        "",
    ]

    def add(name: str, text: str) -> None:
        lines.append(f"  {name:<22} {text}")

    if data["published"] is not None:
        paper = data["published"]
        add(
            "published accuracy",
            f"{plus_minus(paper['mean'], paper['std'])}   "
            f"difference {paper['difference']:+.4f}   (table {paper['source']})",
        )
    spread = data["validation_accuracy"]
    several = len(spread["values"]) > 1
    add("validation accuracy", plus_minus(spread["mean"], spread["std"] if several else None))
    add("calibration error", calibration_text(data["scores"], data["temperature"]))
    step = step_of(report.model)
    if step:
        add(f"{step}s", f"{data['epochs']:.1f} per split")
    add("time", f"{data['ms_per_epoch']:.2f} ms per {step or 'split'}")
    add("peak memory", f"{data['peak_memory_mb']:.0f} MB")
    chosen = data["hyperparameters"]
    add("hyper-parameters", "  ".join(f"{k}={chosen[k]}" for k in _shown(report.model, chosen)))
    if "model_folder" in data:
        add("model folder", data["model_folder"])
    return "\n".join(lines)


def _shown(model: str, chosen: Mapping[str, Any]) -> list[str]:
    """Return the settings that a reader wants to see; of trees and the like their own ones."""
    from dataclasses import fields

    from heterophily.models.catalog import MODELS

    names = ["lr", "weight_decay", "dropout", "hidden", "depth", "with_structure", "mix_scale"]
    if step_of(model) != "epoch":
        names = [field.name for field in fields(MODELS[model].options)]
    return [name for name in names if name in chosen]


def calibration_text(scores: Mapping[str, Any], temperature: float) -> str:
    """Write the mean gap between probability and accuracy, before and after rescaling."""
    before, after = (
        scores[name]["mean"] for name in ("calibration-error", "calibration-error-scaled")
    )
    return (
        f"{before:.4f} (mean gap between probability and accuracy); {after:.4f} after rescaling "
        f"(temperature {temperature:.2f})"
    )
