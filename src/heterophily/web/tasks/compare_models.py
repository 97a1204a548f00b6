"""Compare models on a graph: told run by run, kept in the store, files at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.npz import read_npz
from heterophily.web.folder import write_json
from heterophily.web.tasks.import_graph import GRAPH_FILE
from heterophily.web.worker import Context, finite

if TYPE_CHECKING:
    from heterophily.runs.stores.base import Store

COMPARISON_FILE = "comparison.json"


def compare_models(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Train what the store lacks, test every pair, and write the files to take away.

    Runs are in the store when they are told: stopping loses only the run at work, and the same
    job again goes on from there.
    """
    from heterophily.comparison.compare import compare
    from heterophily.comparison.portrait import PORTRAIT_KINDS
    from heterophily.report.evaluation_text import comparison_sentences
    from heterophily.runs.executors.in_process import InProcess
    from heterophily.runs.stores.url import open_store
    from heterophily.web.tasks.take_away import write_files

    os.chdir(request["folder"])
    path = Path(request["graph_folder"]) / GRAPH_FILE
    models = request["models"]
    with open_store(request["store"]) as store:
        result = compare(
            str(path),
            models,
            store=store,
            splits=request["splits"],
            repeats=request["repeats"],
            seed=request["seed"],
            executor=InProcess(),
            engine="auto",
            watch=_Teller(store, context),
            keep=(*PORTRAIT_KINDS, "state"),
        )
        data = {**finite(result.to_dict()), "sentences": comparison_sentences(result)}
        context.emit("comparison", **data)
        write_json(Path(COMPARISON_FILE), data)
        files = write_files(read_npz(path), result, request, context, store)
    return {"best": result.best.row, "files": [COMPARISON_FILE, *files]}


class _Teller:
    """Tells each run once, when the store has it."""

    def __init__(self, store: Store, context: Context) -> None:
        self._store, self._context = store, context
        self._emitted: set[str] = set()

    def __call__(self, finished: set[str], total: int) -> None:
        new = finished - self._emitted
        self._emitted |= new
        for record in self._store.records(sorted(new)):
            row = record.to_row()
            self._context.emit(
                "run",
                model=row["model"],
                split=row["split_index"],
                test=row["test_accuracy"],
                validation=row["validation_accuracy"],
                epochs=row["epochs"],
                seconds=row["seconds"],
            )
        self._context.emit("progress", done=len(self._emitted), total=total)
