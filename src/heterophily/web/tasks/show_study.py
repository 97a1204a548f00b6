"""A table of the paper as far as the store has it, ours beside theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heterophily.web.worker import Context

if TYPE_CHECKING:
    from heterophily.runs.cell import CellResult
    from heterophily.studies.study import Study
    from heterophily.studies.table import TableResult

ENGINES = ("torch", "auto")
"""A run names the engine that trained it: the table is that of the engine with more runs."""


def show_study(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return the table of a study; datasets that are not on this machine have no values of ours."""
    from heterophily.report.tables import FAR, remark_lines, summary_lines
    from heterophily.runs.stores.url import open_or_empty
    from heterophily.studies.runner import plan_study
    from heterophily.studies.study import study

    chosen = study(request["name"])
    here = _datasets_here(chosen, request["data_folder"])
    found: list[TableResult] = []
    if here:
        with open_or_empty(request["store"]) as store:
            for engine in ENGINES:
                context.check()
                plan = plan_study(
                    chosen.part(datasets=here),
                    protocol=request["protocol"],
                    data_folder=request["data_folder"],
                    offline=True,
                    engine=engine,
                )
                found.append(plan.result(store))
    table = max(found, key=_finished_runs) if found else None
    absent = [name for name in chosen.datasets if name not in here]
    lines = [f"Not on this machine: {', '.join(absent)}."] if absent else []
    if table is not None:
        lines = [*summary_lines(table), *lines, *remark_lines(table)]
        lines = [line.replace(f" ({FAR} marks the others)", "") for line in lines]  # colours do
    return {
        "name": chosen.name,
        "title": chosen.title,
        "protocol": request["protocol"],
        "rows": [row.name for row in chosen.rows],
        "datasets": list(chosen.datasets),
        "cells": _cells(chosen, table),
        "lines": lines,
    }


def _datasets_here(chosen: Study, data_folder: str | None) -> list[str]:
    from heterophily.data.catalog import find

    return [name for name in chosen.datasets if find(name, data_folder)[0] != "to download"]


def _finished_runs(table: TableResult) -> int:
    return sum(len(cell.test) for cell in table.cells)


def _cells(chosen: Study, table: TableResult | None) -> list[dict[str, Any]]:
    cells = []
    for row in chosen.rows:
        for dataset in chosen.datasets:
            ours = None if table is None else table.cell(row.name, dataset)
            printed = chosen.printed(row.name, dataset)
            cells.append(
                {
                    "row": row.name,
                    "dataset": dataset,
                    "published": None if printed is None else printed.mean,
                    "published_std": None if printed is None else printed.std,
                    **_ours(ours),
                }
            )
    return cells


def _ours(cell: CellResult | None) -> dict[str, Any]:
    if cell is None:
        return {"mean": None, "std": None, "finished": 0, "wanted": 0, "keys": []}
    return {
        "mean": cell.mean,
        "std": cell.std,
        "finished": len(cell.test),
        "wanted": cell.wanted,
        "keys": list(cell.keys),
        "is_within": cell.is_within,
        "engine": cell.engine,
        "settings": dict(cell.settings),
        "remark": cell.remark,
    }
