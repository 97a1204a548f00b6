"""A record as a row of a table: some columns to search by, its content, and a checksum."""

from __future__ import annotations

import json
import os
import socket
from functools import cache
from typing import NamedTuple

from heterophily.runs.record import Outcome, Record, digest


class StoredRow(NamedTuple):
    """A record in a store. The checksum covers key and content: databases check neither."""

    key: str
    model: str
    graph: str
    split_rule: str
    split_index: int
    content: str
    checksum: str


ORDER = "graph, model, split_rule, split_index, key"
"""The order of all records, as columns of SQL."""


def row_of(record: Record) -> StoredRow:
    """Return the row of a record."""
    content = json.dumps(
        {
            "run": record.run,
            "outcome": record.outcome.to_dict(),
            "versions": record.versions,
            "command": record.command,
            "finished_at": record.finished_at,
        },
        sort_keys=True,
        allow_nan=False,
    )
    run, split = record.run, record.run["split"]
    names = (run["model"], run["graph"]["name"], split["rule"], split["index"])
    return StoredRow(record.key, *names, content, digest(record.key + content))


def is_intact(row: StoredRow) -> bool:
    """Whether key and content are those that were written."""
    return digest(row.key + row.content) == row.checksum


def record_of(row: StoredRow) -> Record:
    """Return the record of a row."""
    content = json.loads(row.content)
    outcome = Outcome(**content.pop("outcome"))
    return Record(key=row.key, outcome=outcome, **content)


def place() -> str:
    """Return the host and the process, for the list of beginnings."""
    return f"{_host()}:{os.getpid()}"


@cache
def _host() -> str:
    return socket.gethostname()
