"""Records leave a store as CSV, Parquet or JSON, come back, and stores are merged. No torch."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from heterophily.data.atomic import atomic_path
from heterophily.data.toml_file import read_text
from heterophily.data.wording import count
from heterophily.errors import InputError, lookup
from heterophily.runs.record import Outcome, Record, canonical, digest
from heterophily.runs.stores.base import Store, StoreError

CHECKSUM = "checksum"


def checksum(record: Record) -> str:
    """Return a hash over everything that a record says: the run, its outcome, where it is from."""
    return digest(canonical(asdict(record)))


def _write_csv(records: list[Record], path: Path) -> None:
    rows = [record.to_row() for record in records]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(records: list[Record], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([{**r.to_row(), CHECKSUM: checksum(r)} for r in records])
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def _write_json(records: list[Record], path: Path) -> None:
    content = [{**asdict(record), CHECKSUM: checksum(record)} for record in records]
    path.write_text(json.dumps(content, indent=1, allow_nan=False), "utf-8")


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


def _read_parquet(path: Path) -> list[tuple[Record, str | None]]:
    import pyarrow.parquet as pq

    table = pq.read_table(path, page_checksum_verification=True)
    return [(Record.from_row(row), row.get(CHECKSUM)) for row in table.to_pylist()]


def _read_json(path: Path) -> list[tuple[Record, str | None]]:
    def refuse(word: str) -> None:
        raise InputError(f"{word} is not a JSON number")

    content = json.loads(read_text(path, most=2**32), parse_constant=refuse)
    if not isinstance(content, list):
        raise InputError("a list of runs is expected")
    found = []
    for item in content:
        told = item.pop(CHECKSUM, None) or ""  # one that is missing fits nothing
        found.append((Record(**{**item, "outcome": Outcome(**item["outcome"])}), told))
    return found


READERS: Mapping[str, Callable[[Path], list[tuple[Record, str | None]]]] = {
    ".parquet": _read_parquet,
    ".json": _read_json,
}


def read_records(path: Path) -> list[Record]:
    """Return the records of an exported file, each checked against its key and its checksum.

    Parquet files of earlier versions have no checksums; their pages do.
    """
    read = lookup(READERS, "kind of file with runs", path.suffix.lower())
    try:
        found = read(path)
        for record, _ in found:
            _check_types(record)
        strange = [record.key for record, _ in found if not record.is_consistent]
        changed = [
            record.key for record, told in found if told is not None and told != checksum(record)
        ]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except _UNREADABLE as error:  # pyarrow's errors are of these
        raise InputError(
            f"{path} holds no runs that this program can read ({type(error).__name__}); write it "
            "again with heterophily runs export"
        ) from error
    if strange:
        raise InputError(
            f"{path}: run {strange[0][:12]} does not fit its key: it was changed or a newer "
            "program wrote it; nothing was taken"
        )
    if changed:
        raise InputError(
            f"{path}: run {changed[0][:12]} does not fit its checksum: its outcome, its model or "
            "its origin was changed after it was written; nothing was taken"
        )
    return [record for record, _ in found]


_UNREADABLE = (
    *(ValueError, KeyError, TypeError, AttributeError),
    *(OSError, RecursionError, OverflowError, NotImplementedError),
)
_OUTCOME: dict[str, tuple[type, ...]] = {
    "status": (str,),
    "epochs": (int,),
    "best_epoch": (int,),
    **dict.fromkeys(("train_loss", "validation_loss"), (float, int, NoneType)),
    **dict.fromkeys(("validation_accuracy", "test_accuracy"), (float, int, NoneType)),
    **dict.fromkeys(("seconds", "peak_memory_mb"), (float, int)),
}


def _check_types(record: Record) -> None:
    """Refuse a record whose parts are not what they should be."""
    run = record.run
    texts = [record.key, record.command, record.finished_at, run["model"], run["engine"]]
    texts += [run["graph"]["name"], run["graph"]["content_hash"]]
    texts += [run["split"]["rule"], run["split"]["digest"]]
    wholes = [run["seed"], run["split"]["index"]]
    mappings = [run["options"], run["config"], run["resolved"], record.versions]
    for values, kind in ((texts, str), (wholes, int), (mappings, dict)):
        if not all(isinstance(value, kind) for value in values):
            raise InputError("a field of a run has the wrong type")
    for name, kinds in _OUTCOME.items():
        value: Any = getattr(record.outcome, name)
        if type(value) not in kinds:
            raise InputError(f"{name} has the wrong type")
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{name} is not finite")
        if name.endswith("accuracy") and value is not None and not 0 <= float(value) <= 1:
            raise InputError(f"{name} is not between 0 and 1")
    canonical(asdict(record)).encode("utf-8")  # half a character is refused here


class Merged(NamedTuple):
    """How many records were new, how many were known, and remarks on those that differ."""

    added: int
    known: int
    remarks: tuple[str, ...] = ()


def merge_store(target: Store, other: Store) -> Merged:
    """Take all records of another store."""
    return merge_records(target, other.records(), where=other.name)


def merge_records(target: Store, records: Iterable[Record], *, where: str | Path) -> Merged:
    """Take records into a store.

    A key with another answer is left where it is, with a remark, if the two were trained with
    other versions or on other processors. With equal ones it cannot be: nothing is taken then.
    """
    arriving: list[Record] = []
    differing: Counter[str] = Counter()
    known = 0
    here = {record.key: record for record in target.records()}
    for record in records:
        ours = here.get(record.key)
        if ours is None:
            arriving.append(record)
        elif ours.answer == record.answer:
            known += 1
        elif changes := _changes(ours.versions, record.versions):
            differing[changes] += 1
        else:
            raise StoreError(
                f"{where} and {target.name} disagree on run {record.key[:12]} "
                f"({record.run['model']} on {record.run['graph']['name']}), trained with the same "
                "versions on the same kind of processor; nothing was merged"
            )
    remarks = tuple(
        f"{count(number, 'run')}: the answer there is another ({changes}); the one here stays"
        for changes, number in differing.items()
    )
    return Merged(target.add_all(arriving), known, remarks)


def _changes(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Say what of the versions differs."""
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(
        f"{name} {theirs.get(name, 'unknown')} instead of {ours.get(name, 'unknown')}"
        for name in names
    )
