"""Records leave a store as CSV, Parquet or JSON, come back, and stores are merged. No torch."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heterophily.data.atomic import atomic_path
from heterophily.errors import InputError, lookup
from heterophily.experiments.records import Outcome, Record
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


def _read_parquet(path: Path) -> list[Record]:
    import pyarrow.parquet as pq

    table = pq.read_table(path, page_checksum_verification=True)
    return [Record.from_row(row) for row in table.to_pylist()]


def _read_json(path: Path) -> list[Record]:
    return [
        Record(**{**item, "outcome": Outcome(**item["outcome"])})
        for item in json.loads(path.read_text("utf-8"))
    ]


READERS: Mapping[str, Callable[[Path], list[Record]]] = {
    ".parquet": _read_parquet,
    ".json": _read_json,
}


def read_records(path: Path) -> list[Record]:
    """Return the records of an exported file, each checked against its key."""
    read = lookup(READERS, "kind of file with runs", path.suffix.lower())
    try:
        found = read(path)
        strange = [record.key for record in found if not record.is_consistent]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (ValueError, KeyError, TypeError, OSError) as error:  # pyarrow's errors are of these
        raise InputError(
            f"{path} holds no runs that this program can read ({type(error).__name__}); write it "
            "again with heterophily runs export"
        ) from error
    if strange:
        raise InputError(
            f"{path}: run {strange[0][:12]} does not fit its key: it was changed or a newer "
            "program wrote it; nothing was taken"
        )
    return found


def merge_store(target: Store, other: Store) -> tuple[int, int]:
    """Take all records of another store; return how many were new and how many known."""
    return merge_records(target, other.records(), where=other.path)


def merge_records(target: Store, records: Iterable[Record], *, where: Path) -> tuple[int, int]:
    """Take records into a store; return how many were new and how many known.

    A key with another answer means that the two were trained with programs or machines that
    compute differently: nothing is taken then.
    """
    arriving: list[Record] = []
    known = 0
    here: dict[str, Any] = {record.key: record.answer for record in target.records()}
    for record in records:
        if record.key not in here:
            arriving.append(record)
        elif here[record.key] == record.answer:
            known += 1
        else:
            raise StoreError(
                f"{where} and {target.path} disagree on run {record.key[:12]} "
                f"({record.run['model']} on {record.run['graph']['name']}); nothing was merged"
            )
    return target.add_all(arriving), known
