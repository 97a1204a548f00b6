"""Records leave a store as CSV, Parquet or JSON, and stores are merged. No torch here."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heterophily.data.atomic import atomic_path
from heterophily.errors import InputError, lookup
from heterophily.experiments.records import Record
from heterophily.experiments.store import Store, StoreError


def _write_csv(records: list[Record], path: Path) -> None:
    rows = [record.to_row() for record in records]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(records: list[Record], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([record.to_row() for record in records])
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def _write_json(records: list[Record], path: Path) -> None:
    path.write_text(json.dumps([asdict(record) for record in records], indent=1), "utf-8")


WRITERS: Mapping[str, Callable[[list[Record], Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
}


def export_records(records: Iterable[Record], path: Path) -> int:
    """Write records to a file, by its suffix; return how many.

    CSV and Parquet hold one flat row per run; JSON holds the whole records.
    """
    write = lookup(WRITERS, "kind of file", path.suffix.lower())
    found = list(records)
    if not found:
        raise InputError(f"no finished run was chosen: {path} was not written")
    with atomic_path(path) as temporary:
        write(found, temporary)
    return len(found)


def merge_store(target: Store, other: Store) -> tuple[int, int]:
    """Take all records of another store; return how many were new and how many known.

    A key with another answer means that the two were trained with programs or machines that
    compute differently: nothing is taken then.
    """
    arriving: list[Record] = []
    known = 0
    here: dict[str, Any] = {record.key: record.answer for record in target.records()}
    for record in other.records():
        if record.key not in here:
            arriving.append(record)
        elif here[record.key] == record.answer:
            known += 1
        else:
            raise StoreError(
                f"{other.path} and {target.path} disagree on run {record.key[:12]} "
                f"({record.run['model']} on {record.run['graph']['name']}); nothing was merged"
            )
    return target.add_all(arriving), known
