"""The record of a finished run: what was asked, under which key, and what came out. No torch."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from heterophily.native.version import engine_version
from heterophily.runs.run import NUMERICS, GraphRef, Run, SplitRef, key_of
from heterophily.runs.run import canonical as canonical
from heterophily.runs.run import digest as digest


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, and what it cost. Values are None when the first epoch diverged.

    ``scores`` are those of :func:`~heterophily.evaluation.run_scores.run_scores`; None in records
    of earlier versions and of runs on the paper's random splits, which are compared by accuracy.
    """

    status: str
    epochs: int
    best_epoch: int
    train_loss: float | None
    validation_loss: float | None
    validation_accuracy: float | None
    test_accuracy: float | None
    seconds: float
    peak_memory_mb: float
    scores: Mapping[str, Any] | None = None

    def value(self, part: str, score: str) -> float | None:
        """Return a score of ``"validation"`` or ``"test"`` nodes; None if the record lacks it."""
        if score == "accuracy":
            return self.validation_accuracy if part == "validation" else self.test_accuracy
        found: float | None = (self.scores or {}).get(part, {}).get(score)
        return found

    @property
    def answer(self) -> dict[str, Any]:
        """Return the outcome without its cost: what must be equal, bit for bit, everywhere.

        The scores follow from it, and records of earlier versions have none.
        """
        values = asdict(self)
        del values["seconds"], values["peak_memory_mb"], values["scores"]
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without scores when there are none."""
        values = asdict(self)
        if self.scores is None:
            del values["scores"]
        return values


@dataclass(frozen=True, eq=False)
class Record:
    """A finished run: its key, its description, its outcome, and where they come from."""

    key: str
    run: Mapping[str, Any]
    outcome: Outcome
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    finished_at: str = ""

    @classmethod
    def of(cls, run: Run, outcome: Outcome, *, command: str = "") -> Record:
        """Record an outcome now, with the versions of this process."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        trained_by = engine_version(run.engine, NUMERICS[run.engine])
        known = {**versions(), "engine": trained_by}
        return cls(run.key, run.to_dict(), outcome, known, command, now)

    @property
    def numerics(self) -> int | None:
        """The version of the engine's numerics that the key belongs to; None if to none."""
        known = range(NUMERICS[self.run["engine"]], 0, -1)
        return next((n for n in known if self.key == key_of(self.run, n)), None)

    @property
    def answer(self) -> str:
        """The key with everything that must not depend on interruptions, machines' load, time."""
        return canonical([self.key, self.outcome.answer])

    @property
    def is_consistent(self) -> bool:
        """Whether the key belongs to the description, under today's numerics or earlier ones."""
        return self.numerics is not None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Record:
        """Return the record behind a row of :meth:`to_row`."""
        run = {
            "model": row["model"],
            "options": json.loads(row["options"]),
            "config": json.loads(row["config"]),
            "graph": asdict(GraphRef(row["graph"], row["graph_hash"])),
            "split": asdict(
                SplitRef(
                    row["split_rule"], row["split_index"], row["split_seed"], row["split_digest"]
                )
            ),
            "seed": row["seed"],
            "resolved": json.loads(row["resolved"]),
            "engine": row["engine"],
        }
        values = {name: row[name] for name in Outcome.__dataclass_fields__ if name != "scores"}
        scores = row.get("scores")
        outcome = Outcome(**values, scores=json.loads(scores) if scores else None)
        return cls(
            key=row["key"],
            run=run,
            outcome=outcome,
            versions=json.loads(row["versions"]),
            command=row["command"],
            finished_at=row["finished_at"],
        )

    def to_row(self) -> dict[str, Any]:
        """Return one flat row, for tables of records."""
        run, split = self.run, self.run["split"]
        return {
            "key": self.key,
            "model": run["model"],
            "graph": run["graph"]["name"],
            "split_rule": split["rule"],
            "split_index": split["index"],
            "split_seed": split["seed"],
            "seed": run["seed"],
            "engine": run["engine"],
            **asdict(self.outcome),
            "scores": "" if self.outcome.scores is None else canonical(self.outcome.scores),
            "options": canonical(run["options"]),
            "config": canonical(run["config"]),
            "resolved": canonical(run["resolved"]),
            "graph_hash": run["graph"]["content_hash"],
            "split_digest": split["digest"],
            "versions": canonical(self.versions),
            "command": self.command,
            "finished_at": self.finished_at,
        }


@cache
def versions() -> dict[str, str]:
    """Return the versions that may change a number."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("heterophily", "torch", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "?"
    from heterophily.native.library import instruction_set

    return {**found, "instructions": instruction_set()}


def command_line() -> str:
    """Return the command of this process: no folder of the program, no store, no password."""
    from heterophily.runs.stores.url import without_password

    words = [Path(sys.argv[0]).name]
    for before, word in zip(sys.argv, sys.argv[1:], strict=False):  # where runs lie is no setting
        if before != "--store" and not word.startswith("--store"):
            words.append(word)
    return without_password(" ".join(words))
