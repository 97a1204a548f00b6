"""Runs on the same fixed splits that other records hold already, with their source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from shared import RESULTS, shown

TABLES = RESULTS / "tables" / "runs.parquet"
ZOO = RESULTS / "zoo-fixed-splits"  # accuracies of cells without records
SEARCHED = RESULTS / "tables" / "fixed-splits-validated.json"
FROM_TABLES = ("acm-gcn", "acmii-gcn+", "acm-gcn++")
FROM_ZOO = ("linkx", "glognn")

Runs = dict[str, dict[str, Any]]


def reused(graph: str, splits: int) -> dict[str, dict[str, Any]]:
    """Return for each model with records its source and its runs, by split number."""
    found = {}
    for model in FROM_TABLES:
        if runs := _of_tables(graph, model, splits):
            found[model] = {"source": shown(TABLES), "runs": runs}
    for model in FROM_ZOO:
        if runs := _of_searched(graph, model, splits):
            found[model] = {"source": shown(SEARCHED), "runs": runs}
            continue
        path = ZOO / f"{model}--{graph}--fixed.json"
        if path.is_file() and (runs := _of_zoo(path, splits)):
            found[model] = {"source": shown(path), "runs": runs}
    return found


def _of_tables(graph: str, model: str, splits: int) -> Runs:
    table = pq.read_table(TABLES)
    for column, value in (("graph", graph), ("model", model), ("split_rule", "fixed")):
        table = table.filter(pc.equal(table[column], value))
    runs = {
        str(row["split_index"]): {
            "validation": round(row["validation_accuracy"], 5),
            "test": round(row["test_accuracy"], 5),
        }
        for row in table.to_pylist()
        if row["split_index"] < splits
    }
    return runs if len(runs) == splits else {}


def _of_searched(graph: str, model: str, splits: int) -> Runs:
    if not SEARCHED.is_file():
        return {}
    for cell in json.loads(SEARCHED.read_text("utf-8"))["cells"]:
        if (cell["row"], cell["dataset"]) == (model, graph) and cell["is_complete"]:
            pairs = list(zip(cell["validation"], cell["test"], strict=True))[:splits]
            return {
                str(number): {"validation": round(validation, 5), "test": round(test, 5)}
                for number, (validation, test) in enumerate(pairs)
            }
    return {}


def _of_zoo(path: Path, splits: int) -> Runs:
    """Return the runs of the candidate that is best in validation accuracy on these splits."""
    numbers = [str(number) for number in range(splits)]
    best, runs = -1.0, {}
    for candidate in json.loads(path.read_text("utf-8"))["candidates"]:
        given = [candidate["runs"].get(number, {}).get("validation") for number in numbers]
        if None in given:
            continue
        if (mean := sum(given) / len(given)) > best:
            best = mean
            runs = {
                number: {key: candidate["runs"][number][key] for key in ("validation", "test")}
                for number in numbers
            }
    return runs
