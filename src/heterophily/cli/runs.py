"""``heterophily runs``: what is in the store, and its care."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.cli.panels import show_help
from heterophily.cli.spread import StoreOption
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.runs.record import Record
    from heterophily.runs.stores.base import Store

app = typer.Typer(
    invoke_without_command=True,
    callback=show_help,
    help="Finished runs: list, show, export, merge, check, repeat, salvage, migrate, backup.",
)

SALVAGE = "heterophily runs salvage NEW-FILE"
NewStore = Annotated[Path, typer.Argument(help="A new .sqlite file.")]
Json = Annotated[bool, typer.Option("--json", help="Print data instead of text.")]
ModelFilter = Annotated[str | None, typer.Option(help="Only this model.")]
GraphName = Annotated[str | None, typer.Option(help="Only this graph.")]


@app.command("list")
def list_runs(
    model: ModelFilter = None,
    graph: GraphName = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most this many.")] = 50,
    store: StoreOption = None,
    json: Json = False,
) -> None:
    """List finished runs."""
    import itertools

    from heterophily.evaluation.split_rules import rule_of
    from heterophily.report.tables import plain

    with _open(store) as opened:
        found = _chosen(opened, model, graph)
        shown = [record.to_row() for record in itertools.islice(found, limit)]
        more = sum(1 for _ in found)
    if json:
        import json as json_module

        print(json_module.dumps(shown, indent=1))
        return
    header = ["key", "model", "graph", "splits", "index", "test", "validation", "epochs", "seconds"]
    rows = [
        [
            row["key"][:12],
            row["model"],
            row["graph"],
            rule_of(row["split_rule"]),
            str(row["split_index"]),
            *(_share(row[name]) for name in ("test_accuracy", "validation_accuracy")),
            str(row["epochs"]),
            f"{row['seconds']:.2f}",
        ]
        for row in shown
    ]
    print(plain(header, rows) if rows else "no runs")
    if more:
        print(f"... and {more} more (--limit)")


@app.command("show")
def show(
    key: Annotated[str, typer.Argument(help="The key, or its first characters.")],
    store: StoreOption = None,
) -> None:
    """Show everything that is known about a run, as JSON."""
    import json as json_module
    from dataclasses import asdict

    with _open(store) as opened:
        found = opened.find(key)
    if len(found) != 1:
        keys = ", ".join(record.key[:12] for record in found[:3])
        what = f"{len(found)} runs start so: {keys}, ..." if found else "no run has this key"
        raise InputError(f"key {key!r}: {what}; see heterophily runs list")
    print(json_module.dumps(asdict(found[0]), indent=1))


@app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="A .csv, .parquet or .json file.")],
    model: ModelFilter = None,
    graph: GraphName = None,
    store: StoreOption = None,
) -> None:
    """Write finished runs as a table."""
    from heterophily.runs.transfer import export_records

    with _open(store) as opened:
        count = export_records(_chosen(opened, model, graph), out)
    print(f"wrote {count} runs to {out}")


@app.command("merge")
def merge(
    others: Annotated[
        list[str], typer.Argument(help="Stores, or exported .parquet and .json files.")
    ],
    store: StoreOption = None,
) -> None:
    """Add the runs of other stores or files to this one; for the same run both must agree."""
    from heterophily.runs.stores.url import open_store, without_password
    from heterophily.runs.transfer import READERS, merge_records, merge_store, read_records

    with open_store(store) as target:
        for path in others:
            if Path(path).suffix.lower() in READERS:
                merged = merge_records(target, read_records(Path(path)), where=path)
            else:
                with open_store(path, is_read_only=True) as other:
                    merged = merge_store(target, other)
            name = without_password(path)
            print(f"{name}: {merged.added} new, {merged.known} known")
            for remark in merged.remarks:
                print(f"{name}: {remark}")


@app.command("check")
def check(store: StoreOption = None) -> None:
    """Compare every record with its checksum; the exit code is 1 if one is damaged."""
    from heterophily.runs.care import check_store

    health = check_store(store)
    print(f"{health.runs} runs are intact")
    if health.problem is not None:
        print(health.problem)
    elif health.damaged:
        keys = ", ".join(key[:12] for key in health.damaged[:3])
        print(f"{len(health.damaged)} are damaged ({keys}); save the others: {SALVAGE}")
    if not health.is_good:
        raise typer.Exit(1)


@app.command("repeat")
def repeat_runs(
    count: Annotated[int, typer.Option(min=1, help="How many runs to train again.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Which runs are drawn.")] = 0,
    model: ModelFilter = None,
    graph: GraphName = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    store: StoreOption = None,
) -> None:
    """Train some finished runs again and compare every number; the exit code is 1 if one differs.

    Runs are drawn at random from those that this version of the program can repeat. Nothing is
    written to the store.
    """
    from heterophily.report.tables import plain
    from heterophily.runs.repeat import drawn_records, repeat

    with _open(store) as opened:
        drawn = drawn_records(_chosen(opened, model, graph), count, seed=seed)
    rows, problems, equal = [], dict[str, None](), 0
    for again in repeat(drawn, data_folder=data_folder, offline=offline):
        run, then = again.record.run, again.record.outcome
        now = "-" if again.outcome is None else _share(again.outcome.test_accuracy)
        equal += again.is_equal
        if again.problem:
            problems[again.problem] = None
        rows.append(
            [
                again.record.key[:12],
                run["model"],
                run["graph"]["name"],
                str(run["split"]["index"]),
                *again.engines,
                _share(then.test_accuracy),
                now,
                "not trained" if again.problem else "equal" if again.is_equal else "differs",
            ]
        )
    header = ["key", "model", "graph", "split", "trained by", "here", "test", "test here", ""]
    if rows:
        print(plain(header, rows))
    for problem in problems:
        print(f"not trained: {problem}")
    print(f"{equal} of {len(rows)} runs give the same losses and accuracies, to the last bit")
    if equal < len(rows):
        raise typer.Exit(1)


@app.command("salvage")
def salvage(out: NewStore, store: StoreOption = None) -> None:
    """Copy every intact run of a damaged store to a new file; the damaged file stays."""
    from heterophily.runs.care import salvage as take

    print(f"took {take(store, out)} intact runs to {out}")


@app.command("migrate")
def migrate(store: StoreOption = None) -> None:
    """Update a store of an earlier version to the format of this one; no record changes."""
    from heterophily.runs.care import migrate as bring

    before, after = bring(store)
    print(f"schema {before} became {after}" if before != after else f"schema {after}: up to date")


@app.command("backup")
def backup(out: NewStore, store: StoreOption = None) -> None:
    """Copy all runs to a new file; other commands may write meanwhile."""
    from heterophily.runs.care import backup as copy

    with _open(store) as opened:
        print(f"copied {copy(opened, out)} runs to {out}")


def _open(url: str | None) -> Store:
    from heterophily.runs.stores.url import open_store

    return open_store(url, is_read_only=True)


def _chosen(store: Store, model: str | None, graph: str | None) -> Iterator[Record]:
    wanted: dict[str, Any] = {"model": model, "graph": graph}
    for record in store.records():
        names = {"model": record.run["model"], "graph": record.run["graph"]["name"]}
        if all(value in (None, names[key]) for key, value in wanted.items()):
            yield record


def _share(value: float | None) -> str:
    return "diverged" if value is None else f"{value:.4f}"
