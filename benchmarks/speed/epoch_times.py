"""Processor time of an epoch for every row of the ablation, beside the paper's Table 1.

    python benchmarks/speed/epoch_times.py  # small graphs; --datasets film,squirrel for others

All rows of a dataset are timed in turn, several times over, in one process and on one thread. An
epoch is a training step and an evaluation; its time is the difference between a long and a short
training of the same run, so that nothing else is counted. The paper's milliseconds are of a GPU,
so what is compared is the ratio of each row to the whole model (acm-sgc-1, acm-gcn, acmii-gcn).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import (
    RESULTS,
    Spent,
    head,
    interleaved,
    line,
    median_ms,
    names,
    parser,
    read_json,
    write_json,
)

from heterophily.data.atomic import write_text
from heterophily.native.library import instruction_set
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.run import Run
from heterophily.runs.stores.memory import MemoryStore
from heterophily.studies.runner import plan_study
from heterophily.studies.study import study

OUT = RESULTS / "tables" / "epoch-times"
SHORT, LONG = 20, 120


def trained(run: Run, epochs: int) -> Spent:
    config = {**run.config, "stopping": "none", "max_epochs": epochs}
    with MemoryStore() as store:
        return Spent.on(
            lambda: complete(
                [replace(run, config=config)], store=store, executor=InProcess()
            ).check()
        )


def epoch(run: Run, lengths: tuple[int, int]) -> Spent:
    """Return the time of an epoch: a long training less a short one."""
    short, long = (trained(run, epochs) for epochs in lengths)
    return long.less(short, by=lengths[1] - lengths[0])


def measured(
    datasets: list[str], rounds: int, *, rows: int | None = None, lengths: tuple[int, int]
) -> dict[str, Any]:
    """Return the cells of the table; ``rows``: of so many rows only."""
    whole = study("ablation")
    table: dict[str, Any] = {"instructions": instruction_set(), "rounds": rounds, "cells": []}
    for dataset in datasets:
        plan = plan_study(whole.part(datasets=[dataset]), repeats=1, engine="native")
        runs = {cell.cell.row.name: cell.runs[0][0] for cell in plan.cells[-(rows or 0) :]}
        ways = {row: lambda run=run: epoch(run, lengths) for row, run in runs.items()}
        ours = {row: median_ms(turns) for row, turns in interleaved(ways, rounds).items()}
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
        head(["model", *datasets], numbers=True),
    ]
    for row in dict.fromkeys(cell["row"] for cell in table["cells"]):
        texts = []
        for dataset in datasets:
            cell = cells[row, dataset]
            theirs = cell.get("published_ratio", float("nan"))
            texts.append(f"{cell['ms']:.2f} ({cell['ratio']:.2f}; {theirs:.2f})")
        lines.append(line([row, *texts]))
    return "\n".join(lines) + "\n"


def main() -> None:
    options = parser(__doc__)
    options.add_argument(
        "--datasets", default=["cornell", "texas", "wisconsin", "chameleon", "cora"], type=names
    )
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--show", action="store_true", help="measure nothing, write the page")
    given = options.parse_args()
    if given.quick:
        print(page(measured(["texas"], 1, rows=2, lengths=(2, 42))))
        return
    data = OUT.with_suffix(".json")
    if not given.show:
        write_json(data, measured(given.datasets, given.rounds, lengths=(SHORT, LONG)))
    write_text(OUT.with_suffix(".md"), page(read_json(data)))


if __name__ == "__main__":
    main()
