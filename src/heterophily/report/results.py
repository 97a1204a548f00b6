"""Results that other commands wrote, brought into the one form that the report shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heterophily.data.splits import DRAWS
from heterophily.data.toml_file import read_text
from heterophily.errors import InputError
from heterophily.evaluation.split_rules import rule_of
from heterophily.statistics.paired_tests import all_pairs

_TEST_TO_TRAIN = 1 / 3  # of the random 60/20/20 splits


def read_results(paths: Sequence[Path], *, graph: str) -> dict[str, Any]:
    """Read what ``compare --out`` and ``train --json`` wrote about one graph.

    One file of a comparison is taken as it is. Several files of ``train`` become a comparison:
    with paired tests when they were trained on the same random splits, without otherwise.
    """
    contents = [(path, _read(path)) for path in paths]
    for path, content in contents:
        if content.get("graph") != graph:
            raise InputError(
                f"{path} is about the graph {content.get('graph')!r}, not about {graph!r}"
            )
    compared = [content for _, content in contents if "models" in content]
    if compared:
        if len(contents) > 1:
            raise InputError(
                f"{contents[0][0]} and {contents[1][0]}: give one file of compare, or files of "
                "train, not both"
            )
        return compared[0]
    return _joined([content for _, content in contents])


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path} is not JSON of heterophily compare or train") from error
    if not isinstance(content, dict) or not (_is_comparison(content) or _is_training(content)):
        raise InputError(
            f"{path} holds no results; --results takes what heterophily compare --out or train "
            "--json wrote"
        )
    return content


_CELL = {
    *("row", "mean", "std", "test", "validation", "epochs", "ms_per_epoch"),
}
_TEST = {"first", "second", "splits", "difference", "p_value", "wilcoxon", "corrected"}


def _is_comparison(content: Mapping[str, Any]) -> bool:
    wanted = {"graph", "splits", "models", "tests", "best", "rivals", "remarks"}
    if not wanted <= content.keys() or not content["models"]:
        return False
    parts = ((content["models"], _CELL), (content["tests"], _TEST))
    return all(
        isinstance(rows, list)
        and all(isinstance(row, dict) and fields <= row.keys() for row in rows)
        for rows, fields in parts
    )


def _is_training(content: Mapping[str, Any]) -> bool:
    accuracy = content.get("test_accuracy")
    wanted = {"model", "graph", "hyperparameters", "validation_accuracy", "epochs"}
    return (
        wanted <= content.keys()
        and isinstance(accuracy, dict)
        and {"mean", "std", "values"} <= accuracy.keys()
    )


def _rule(report: Mapping[str, Any]) -> str:
    """Return the split rule; files of earlier versions give its stored name."""
    return str(report.get("split_rule") or rule_of(report.get("protocol", "")))


def _joined(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = {report.get("score", "accuracy") for report in reports}
    score = known.pop() if len(known) == 1 else "accuracy"
    cells = {str(report["model"]): _cell(report, score) for report in reports}
    kinds = {
        (_rule(r), r["hyperparameters"].get("seed"), len(r["test_accuracy"]["values"]))
        for r in reports
    }
    rule, _, count = next(iter(kinds))
    is_paired = len(kinds) == 1 and rule in DRAWS and count > 1 and len(cells) > 1
    tests = (
        all_pairs(
            {row: cell["score"]["values"] for row, cell in cells.items()},
            test_to_train=_TEST_TO_TRAIN,
        )
        if is_paired
        else ()
    )
    models = sorted(cells.values(), key=lambda cell: -(cell["score"]["mean"] or 0.0))
    best = models[0]["row"]
    rivals = [
        t.second if t.first == best else t.first
        for t in tests
        if best in (t.first, t.second) and not t.is_significant()
    ]
    remarks = [] if is_paired or len(cells) < 2 else ["the models were not on the same splits"]
    return {
        "graph": reports[0]["graph"],
        "splits": rule if len({kind[0] for kind in kinds}) == 1 else "different",
        "score": score,
        "test_nodes": reports[0].get("test_nodes"),
        "models": models,
        "baselines": models[0]["against"],
        "tests": [asdict(test) for test in tests],
        "best": best,
        "rivals": rivals,
        "remarks": remarks,
    }


def _cell(report: Mapping[str, Any], score: str) -> dict[str, Any]:
    """Return a model's row; files of earlier versions have the accuracy alone."""
    accuracy = report["test_accuracy"]
    found = accuracy if score == "accuracy" else report["scores"][score]
    found = report.get("scores", {}).get(score, found)
    return {
        "row": str(report["model"]),
        "mean": accuracy["mean"],
        "std": accuracy["std"],
        "test": accuracy["values"],
        "score": {"interval": None, **found},
        "validation": report["validation_accuracy"]["values"],
        "epochs": report["epochs"],
        "ms_per_epoch": report.get("ms_per_epoch"),
        "per_class": report.get("per_class", []),
        "confusion": report.get("confusion", []),
        "against": [b for b in report.get("baselines", ()) if b["score"] == score],
    }
