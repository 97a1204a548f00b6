"""Processor time of an epoch for every row of the ablation, beside the paper's Table 1.

    python benchmarks/speed/epoch_times.py  # small graphs; --datasets film,squirrel for others

All rows of a dataset are timed in turn, several times over, in one process and on one thread. An
epoch is a training step and an evaluation; its time is the difference between a long and a short
training of the same run, so that nothing else is counted. The paper's milliseconds are of a GPU,
so what is compared is the ratio of each row to the whole model (acm-sgc-1, acm-gcn, acmii-gcn).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.native.library import instruction_set
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.run import Run
from heterophily.runs.stores.memory import MemoryStore
from heterophily.studies.runner import plan_study
from heterophily.studies.study import study

OUT = Path("results/tables/epoch-times")
SHORT, LONG = 20, 120


def cpu_seconds(run: Run, epochs: int) -> float:
    config = {**run.config, "stopping": "none", "max_epochs": epochs}
    with MemoryStore() as store:
        began = time.process_time()
        complete([replace(run, config=config)], store=store, executor=InProcess()).check()
        return time.process_time() - began


def milliseconds(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """Return the median CPU milliseconds of an epoch by row; rows take turns."""
    for run in runs.values():
        cpu_seconds(run, 2)  # loads what is loaded once
    seen: dict[str, list[float]] = {row: [] for row in runs}
    for _ in range(rounds):
        for row, run in runs.items():
            spent = cpu_seconds(run, LONG) - cpu_seconds(run, SHORT)
            seen[row].append(1000 * spent / (LONG - SHORT))
    return {row: statistics.median(values) for row, values in seen.items()}


def measured(datasets: list[str], rounds: int) -> dict[str, Any]:
    whole = study("ablation")
    table: dict[str, Any] = {"instructions": instruction_set(), "rounds": rounds, "cells": []}
    for dataset in datasets:
        plan = plan_study(whole.part(datasets=[dataset]), repeats=1, engine="native")
        runs = {cell.cell.row.name: cell.runs[0][0] for cell in plan.cells}
        ours = milliseconds(runs, rounds)
        for row in runs:
            full = row.partition("[")[0]
            cell = {
                "row": row,
                "dataset": dataset,
                "ms": round(ours[row], 3),
                "ratio": round(ours[row] / ours[full], 3),
            }
            theirs, base = (whole.printed_ms(name, dataset) for name in (row, full))
            if theirs and base:
                cell |= {"published_ms": theirs, "published_ratio": round(theirs / base, 3)}
            table["cells"].append(cell)
            print(cell, flush=True)
    return table


def page(table: dict[str, Any]) -> str:
    datasets = list(dict.fromkeys(cell["dataset"] for cell in table["cells"]))
    cells = {(cell["row"], cell["dataset"]): cell for cell in table["cells"]}
    lines = [
        "# Time of an epoch",
        "",
        "CPU milliseconds of one epoch of the native engine on one thread, in brackets the ratio "
        "to the whole model, then the paper's ratio. Made by `python benchmarks/speed/epoch_times.py`, "
        f"all rows in turn in one process, medians of {table['rounds']} rounds, instruction set "
        f"{table['instructions']}.",
        "",
        "| model | " + " | ".join(datasets) + " |",
        "| --- |" + " ---: |" * len(datasets),
    ]
    for row in dict.fromkeys(cell["row"] for cell in table["cells"]):
        texts = []
        for dataset in datasets:
            cell = cells[row, dataset]
            theirs = cell.get("published_ratio", float("nan"))
            texts.append(f"{cell['ms']:.2f} ({cell['ratio']:.2f}; {theirs:.2f})")
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="cornell,texas,wisconsin,chameleon,cora")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="measure nothing, write the page")
    given = parser.parse_args()
    data = OUT.with_suffix(".json")
    if not given.show:
        table = measured(given.datasets.split(","), given.rounds)
        write_text(data, json.dumps(table, indent=1) + "\n")
    table = json.loads(data.read_text("utf-8"))
    write_text(OUT.with_suffix(".md"), page(table))


if __name__ == "__main__":
    main()
