"""``heterophily paper list`` and ``paper table``: declared studies, ours beside theirs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.cli.runs import Engine, Seed, StoreOption, Workers

if TYPE_CHECKING:
    from heterophily.experiments.cost import Clock
    from heterophily.experiments.runner import StudyPlan
    from heterophily.experiments.store import Store
    from heterophily.experiments.table import TableResult

Names = Annotated[str | None, typer.Option(help="Only these, with commas between.")]
Protocol = Annotated[
    str, typer.Option(help="published (the paper's optima) or validated (searched here).")
]
SpaceOption = Annotated[
    str, typer.Option("--space", help="For validated: paper, default, or a .toml file.")
]
Repeats = Annotated[int | None, typer.Option(min=1, help="Number of splits of each cell.")]


def list_studies(
    protocol: Protocol = "published",
    store: StoreOption = None,
    data_folder: sources.DataFolder = None,
    workers: Workers = None,
    json: sources.Json = False,
) -> None:
    """List the tables: number of runs and the expected time on this machine.

    The time of one epoch is measured once on each dataset (or read from finished runs).
    """
    from heterophily.errors import lookup
    from heterophily.experiments.cost import study_cost
    from heterophily.experiments.study import PROTOCOLS, studies
    from heterophily.report.live import duration
    from heterophily.report.tables import plain

    lookup(PROTOCOLS, "protocol", protocol)
    clock, count = _clock(store, data_folder), _count(workers)
    found = []
    for study in studies().values():
        facts: dict[str, Any] = {"name": study.name, "place": study.place, "title": study.title}
        if study.command is None:
            cost = study_cost(study, clock, protocol=protocol)
            seconds = None if cost.seconds is None else cost.seconds / count
            size = f"{len(study.rows)} x {len(study.datasets)}"
            facts |= {"size": size, "runs": cost.runs, "seconds": seconds}
        else:
            facts |= {"command": study.command}
        found.append(facts)
    if json:
        import json as json_module

        print(json_module.dumps({"protocol": protocol, "workers": count, "studies": found}))
        return
    rows = []
    for facts in found:
        seconds = facts.get("seconds")
        time = duration(seconds) if seconds is not None else facts.get("command", "data not here")
        runs = f"{facts['runs']:,}" if "runs" in facts else "-"
        rows.append([facts["name"], facts.get("size", "-"), runs, time, facts["title"]])
    print(plain(["table", "rows x datasets", "runs", f"time, {count} worker(s)", "what"], rows))
    print(f"\nProtocol {protocol}. Run one: heterophily paper table NAME (--dry-run says more)")


def table(
    name: Annotated[str, typer.Argument(help="A table (see paper list), or a study of your own.")],
    protocol: Protocol = "published",
    space: SpaceOption = "paper",
    datasets: Names = None,
    models: Names = None,
    repeats: Repeats = None,
    seed: Seed = 0,
    workers: Workers = None,
    engine: Engine = "torch",
    store: StoreOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, train nothing.")] = False,
    only_show: Annotated[bool, typer.Option("--show", help="Print what is finished.")] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Also wins/ties/losses, critical difference.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write here too: .md or .json.")] = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Compute a table of the paper again, ours beside theirs; resumable at any moment.

    Every finished run is in the store and never trained again: stop and repeat the command as
    you like.
    """
    from heterophily.experiments.runner import plan_study
    from heterophily.experiments.study import study

    _check_out(out)
    chosen = study(name)
    if chosen.command is None:
        chosen = chosen.part(models=names_of(models), datasets=names_of(datasets))
    plan = plan_study(
        chosen,
        protocol=protocol,
        space=space,
        seed=seed,
        repeats=repeats,
        data_folder=data_folder,
        offline=offline,
        engine=engine,
    )
    with _opened(store, is_needed=not (dry_run or only_show)) as opened:
        if dry_run:
            _print_plan(plan, opened, _clock(store, data_folder), _count(workers), json=json)
            return
        failures: dict[str, str] = {}
        is_stopped = False
        if not only_show:
            try:
                failures = _train(plan, opened, workers)
            except KeyboardInterrupt:
                is_stopped = True
        result = plan.result(opened)
    _print_result(result, json=json, out=out)
    if statistics and not json:
        from heterophily.report.tables import statistics_lines

        print("", *statistics_lines(result), sep="\n")
    for sentence in dict.fromkeys(failures.values()):
        print(f"failed: {sentence}", file=sys.stderr)
    if is_stopped:
        print("stopped; the same command goes on", file=sys.stderr)
        raise typer.Exit(130)
    if failures:
        raise typer.Exit(1)


def _train(plan: StudyPlan, store: Store, workers: int | None) -> dict[str, str]:
    from functools import partial

    from heterophily.experiments.completion import complete
    from heterophily.experiments.executor import local
    from heterophily.report.live import Watched, watching

    cells = [
        Watched(
            cell.cell.row.name,
            cell.cell.dataset,
            frozenset(run.key for runs in cell.runs for run in runs),
            partial(cell.result, plan.study, store),
        )
        for cell in plan.cells
    ]
    with watching(cells, title=f"{plan.study.title}, protocol {plan.protocol}") as watch:
        job = plan.planner.job(store)
        return complete(plan.runs, job, store, executor=local(workers), watch=watch)


def _print_plan(plan: StudyPlan, store: Store, clock: Clock, workers: int, *, json: bool) -> None:
    from heterophily.report.live import duration

    runs = plan.runs
    finished = store.finished(run.key for run in runs)
    missing = [run for run in runs if run.key not in finished]
    each = [clock.seconds_per_run(run.model, run.graph.name, run.split.rule) for run in missing]
    seconds = sum(time for time in each if time is not None) / workers
    facts = {
        "study": plan.study.name,
        "protocol": plan.protocol,
        "cells": sum(bool(cell.runs) for cell in plan.cells),
        "runs": len(runs),
        "finished": len(finished),
        "seconds": seconds,
        "workers": workers,
    }
    if json:
        import json as json_module

        print(json_module.dumps(facts))
        return
    print(
        f"{plan.study.name}, protocol {plan.protocol}: {facts['cells']} cells, {len(runs):,} runs, "
        f"{len(finished):,} finished; about {duration(seconds)} with {workers} worker(s)"
    )
    for remark in dict.fromkeys(cell.remark for cell in plan.cells if cell.remark):
        print(f"- {remark}")


def _print_result(result: TableResult, *, json: bool, out: Path | None) -> None:
    import json as json_module

    from heterophily.data.atomic import write_text
    from heterophily.report.tables import markdown, show

    if out is not None:
        is_json = out.suffix == ".json"
        text = json_module.dumps(result.to_dict(), indent=1) if is_json else markdown(result)
        write_text(out, text)
    if json:
        print(json_module.dumps(result.to_dict()))
    else:
        show(result)


def _opened(path: Path | None, *, is_needed: bool) -> Store:
    """Open the store; a command that trains nothing gets an empty one where there is none."""
    from heterophily.experiments.store import Store, default_path

    place = path or default_path()
    return Store(place if is_needed or place.exists() else ":memory:")


def _clock(store: Path | None, data_folder: Path | None) -> Clock:
    from heterophily.experiments.cost import Clock, default_memory

    with _opened(store, is_needed=False) as opened:
        return Clock(
            opened,
            memory=default_memory(),
            data_folder=data_folder,
            notice=lambda text: print(text, file=sys.stderr, flush=True),
        )


def _count(workers: int | None) -> int:
    from heterophily.training.replicas import usable_cores

    return workers or usable_cores()


def _check_out(out: Path | None) -> None:
    from heterophily.errors import InputError

    if out is not None and out.suffix not in (".md", ".json"):
        raise InputError(f"--out {out}: the file ends in .md or .json")


def names_of(text: str | None) -> list[str] | None:
    """Split a list of names at its commas, but not within the brackets of acm-gcn[low,high]."""
    import re

    if text is None:
        return None
    names = re.split(r",(?![^\[]*\])", text)
    return [name.strip() for name in names if name.strip()]
