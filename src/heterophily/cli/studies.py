"""``heterophily paper list`` and ``paper table``: declared studies, ours beside theirs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.cli.spread import Engine, RunOptions, StoreOption, Workers, spread
from heterophily.data.wording import count as numbered

if TYPE_CHECKING:
    from heterophily.runs.executors.base import Executor
    from heterophily.runs.stores.base import Store
    from heterophily.studies.cost import RunClock
    from heterophily.studies.runner import StudyPlan
    from heterophily.studies.study import Study
    from heterophily.studies.table import TableResult

Names = Annotated[str | None, typer.Option(help="Only these, with commas between.")]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="published: hyper-parameters that the paper prints; validated: searched here.",
        show_default=False,
    ),
]
SpaceOption = Annotated[
    str | None,
    typer.Option(
        "--space",
        help="For validated: paper, default, programs, field or a .toml file.",
        show_default=False,
    ),
]
Repeats = Annotated[int | None, typer.Option(min=1, help="Number of splits of each cell.")]


def list_studies(
    protocol: Protocol = None,
    store: StoreOption = None,
    data_folder: sources.DataFolder = None,
    workers: Workers = None,
    engine: Engine = "auto",
    time: Annotated[
        bool, typer.Option("--time", help="Also show the expected time (trains a few epochs).")
    ] = False,
    json: sources.Json = False,
) -> None:
    """List the tables and figures of the paper, with the number of trainings of each.

    --time adds the expected time on this machine. It takes a minute or two at the first call:
    a few epochs are trained on each dataset, with the engine that is asked for.
    """
    from heterophily.errors import lookup
    from heterophily.report.live import duration
    from heterophily.report.tables import plain
    from heterophily.studies.study import PROTOCOLS, studies

    if protocol is not None:
        lookup(PROTOCOLS, "protocol", protocol)
    clock = _clock(store, data_folder, engine) if time else None
    count = _count(workers)
    found = []
    for study in studies().values():
        facts: dict[str, Any] = {"name": study.name, "place": study.place, "title": study.title}
        facts |= {"command": study.command or f"heterophily paper table {study.name}"}
        found.append(facts | _size_and_cost(study, clock, protocol or study.protocol, count))
    if json:
        import json as json_module

        listed = {"protocol": protocol, "engine": engine, "workers": count, "studies": found}
        print(json_module.dumps(listed))
        return
    rows = []
    for facts in found:
        seconds = facts.get("seconds")
        expected = facts.get("note", "data not here") if seconds is None else duration(seconds)
        runs = f"{facts['runs']:,}" if "runs" in facts else "-"
        times = [expected] if time else []
        rows.append([facts["name"], facts["size"], runs, *times, facts["title"]])
    heading = [f"time, {numbered(count, 'worker')}"] if time else []
    print(plain(["name", "size", "trainings", *heading, "what"], rows))
    told = f", engine {engine}" if time else "; --time adds how long they take on this machine"
    print(f"\nHyper-parameters: {protocol or 'as each study declares'}{told}.")
    print("Train and show one: heterophily paper table NAME (--dry-run: count what is missing)")
    for facts in found:
        if facts["command"] != f"heterophily paper table {facts['name']}":
            print(f"{facts['name']}: {facts['command']}")


def _size_and_cost(
    study: Study, clock: RunClock | None, protocol: str, workers: int
) -> dict[str, Any]:
    """Return size, runs and seconds of a study; a note where there is nothing to train.

    Without a clock no seconds are given.
    """
    from heterophily.errors import InputError
    from heterophily.studies.cost import study_cost
    from heterophily.studies.synthetic_studies import declared, synthetic_cost

    size = f"{len(study.rows)} models x {len(study.datasets)} datasets"
    try:
        if study.synthetic:
            parts = declared(study)
            size = f"{len(parts)} x {len(parts[0].levels)} levels x {parts[0].graphs} graphs"
            cost = synthetic_cost(parts, clock)
        elif study.command is not None:
            return {"size": "-", "note": "seconds"}
        else:
            cost = study_cost(study, clock, protocol=protocol, space=study.space)
    except InputError as error:  # a model that the engine does not cover
        return {"size": size, "note": f"needs --engine auto ({error})"}
    seconds = None if cost.seconds is None else cost.seconds / workers
    return {"size": size, "runs": cost.runs, "seconds": seconds}


@spread
def table(
    *,
    name: Annotated[str, typer.Argument(help="A table (see paper list), or a study of your own.")],
    protocol: Protocol = None,
    space: SpaceOption = None,
    datasets: Names = None,
    models: Names = None,
    repeats: Repeats = None,
    runs: RunOptions,
    store: StoreOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the trainings.")] = False,
    only_show: Annotated[
        bool, typer.Option("--show", help="Print what is finished; train nothing.")
    ] = False,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Also print wins, ties, losses and the critical difference."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the table to this file too: .md or .json.")
    ] = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Compute a table of the paper again and show our numbers beside the paper's.

    Every finished run is in the store and never trained again: stop and repeat the command as
    you like.
    """
    from dataclasses import replace

    from heterophily.studies.runner import plan_study
    from heterophily.studies.study import study

    _check_out(out)
    chosen = study(name)
    protocol, space = protocol or chosen.protocol, space or chosen.space
    if chosen.command is None:
        chosen = chosen.part(models=names_of(models), datasets=names_of(datasets))
    plan = plan_study(
        chosen,
        protocol=protocol,
        space=space,
        seed=runs.seed,
        repeats=repeats,
        data_folder=data_folder,
        offline=offline,
        engine=runs.engine,
    )
    with _opened(store, is_needed=not (dry_run or only_show)) as opened:
        if dry_run:
            clock = _clock(store, data_folder, runs.engine)
            _print_plan(plan, opened, clock, _count(runs.workers), json=json)
            return
        failures: dict[str, str] = {}
        is_stopped = False
        if not only_show:
            try:
                failures = _train(plan, opened, runs.executor_here())
            except KeyboardInterrupt:
                is_stopped = True
        result = plan.result(opened)
    command = _command(name, protocol, space, datasets, models, repeats, runs.seed, runs.engine)
    _print_result(replace(result, command=command), json=json, out=out)
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


def _train(plan: StudyPlan, store: Store, executor: Executor) -> dict[str, str]:
    from functools import partial

    from heterophily.report.live import Watched, watching
    from heterophily.runs.complete import complete

    title = f"{plan.study.title}, protocol {plan.protocol}"
    failures: dict[str, str] = {}
    for stage in plan.stages(store):
        cells = [
            Watched(
                cell.cell.row.name,
                cell.cell.dataset,
                frozenset(run.key for run in runs),
                partial(cell.result, plan.study, store),
            )
            for cell, runs in stage
        ]
        every = [run for _, runs in stage for run in runs]
        if every:
            with watching(cells, title=title) as watch:
                done = complete(every, store=store, executor=executor, watch=watch)
                failures |= done.failures
    return failures


def _print_plan(
    plan: StudyPlan, store: Store, clock: RunClock, workers: int, *, json: bool
) -> None:
    from collections import Counter

    from heterophily.report.live import duration
    from heterophily.studies.cost import run_seconds

    runs = plan.runs
    finished = store.finished(run.key for run in runs)
    missing = [run for run in runs if run.key not in finished]
    total = run_seconds(Counter((r.model, r.graph.name, r.split.rule) for r in missing), clock)
    seconds = None if total is None else total / workers
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
    time = "an unknown time" if seconds is None else f"about {duration(seconds)}"
    print(
        f"{plan.study.name}, protocol {plan.protocol}: {facts['cells']} cells, {len(runs):,} runs, "
        f"{len(finished):,} finished; {time} with {numbered(workers, 'worker')}, "
        f"engine {clock.engine}"
    )
    for remark in dict.fromkeys(cell.remark for cell in plan.cells if cell.remark):
        print(f"- {remark}")


def _print_result(result: TableResult, *, json: bool, out: Path | None) -> None:
    from heterophily.data.atomic import write_text
    from heterophily.report.tables import data_text, markdown, show

    if out is not None:
        write_text(out, data_text(result) if out.suffix == ".json" else markdown(result))
    if json:
        import json as json_module

        print(json_module.dumps(result.to_dict()))
    else:
        show(result)


def _command(
    name: str,
    protocol: str,
    space: str,
    datasets: str | None,
    models: str | None,
    repeats: int | None,
    seed: int,
    engine: str,
) -> str:
    """Return the command that makes a table again, without the places of one machine."""
    import shlex

    options = {
        "datasets": datasets,
        "models": models,
        "repeats": repeats,
        "seed": seed or None,
        "space": space if protocol == "validated" else None,
    }
    given = [f"--{key} {shlex.quote(str(v))}" for key, v in options.items() if v is not None]
    chosen = [f"--protocol {protocol}", f"--engine {engine}", *given]
    return " ".join(["heterophily paper table", name, *chosen])


def _opened(url: str | None, *, is_needed: bool) -> Store:
    """Open the store; a command that trains nothing gets an empty one where there is none."""
    from heterophily.runs.stores.url import open_or_empty, open_store

    return open_store(url) if is_needed else open_or_empty(url)


def _clock(store: str | None, data_folder: Path | None, engine: str) -> RunClock:
    from heterophily.studies.cost import RunClock, default_memory

    with _opened(store, is_needed=False) as opened:
        return RunClock(
            opened,
            engine=engine,
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
