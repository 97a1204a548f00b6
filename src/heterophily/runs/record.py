"""Runs and their records: what was asked, under which key, and what came out. No torch here."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.engine.version import engine_version

if TYPE_CHECKING:
    from heterophily.data.splits import Split

NUMERICS = {"torch": 1, "native": 4}
"""By engine; raised when the numbers of an unchanged run change on purpose (new kernels that round
otherwise, say): old records of that engine then stay aside."""

_EXACT = 2**53  # whole numbers up to here are exact as floats


def canonical(value: Any) -> str:
    """Return plain data as one text: keys sorted, 64 and 64.0 alike, no NaN.

    >>> canonical({"b": (1, True), "a": 0.1})
    '{"a":0.1,"b":[1.0,true]}'
    """
    return json.dumps(
        _uniform(value), sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )


def _uniform(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _uniform(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_uniform(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _EXACT:
        return float(value)
    return value


def digest(text: str) -> str:
    """Return the sha256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def split_digest(split: Split) -> str:
    """Return a hash of the three sets of a split."""
    masks = b"".join(np.packbits(m).tobytes() for m in (split.train, split.validation, split.test))
    return hashlib.sha256(f"split {split.train.size}|".encode() + masks).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class GraphRef:
    """A graph by its name (for people) and its content (for the key)."""

    name: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class SplitRef:
    """Split ``index`` of a rule; ``seed`` drew it (None for splits that came with the data)."""

    rule: str
    index: int
    seed: int | None
    digest: str


@dataclass(frozen=True, eq=False)
class Run:
    """One training, described completely; the same description always has the same key.

    Parameters
    ----------
    model
        Name in the table of models.
    options
        Options that differ from those of the named model.
    config
        Every field of :class:`~heterophily.training.config.TrainConfig`.
    graph, split
        What it is trained on.
    seed
        Seed of initialisation and dropout.
    resolved
        The network and *all* its options, as plain data. The key is made of these, so that two
        names of one model share their runs and a changed default makes a new run.
    engine
        What trains: ``"torch"`` or ``"native"``. Their roundings differ.
    """

    model: str
    options: Mapping[str, Any]
    config: Mapping[str, Any]
    graph: GraphRef
    split: SplitRef
    seed: int
    resolved: Mapping[str, Any]
    engine: str = "torch"

    @cached_property
    def key(self) -> str:
        """sha256 of model options, hyper-parameters, graph, split, seed and numerics version."""
        return _key(self.to_dict(), NUMERICS[self.engine])

    @cached_property
    def earlier_keys(self) -> tuple[str, ...]:
        """The keys of this run under earlier numerics of its engine, the newest first."""
        return tuple(_key(self.to_dict(), n) for n in range(NUMERICS[self.engine] - 1, 0, -1))

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "model": self.model,
            "options": dict(self.options),
            "config": dict(self.config),
            "graph": asdict(self.graph),
            "split": asdict(self.split),
            "seed": self.seed,
            "resolved": dict(self.resolved),
            "engine": self.engine,
        }


def _key(run: Mapping[str, Any], numerics: int) -> str:
    split = run["split"]
    return digest(
        canonical(
            {
                "numerics": numerics,
                "engine": run["engine"],
                "model": run["resolved"],
                "config": run["config"],
                "graph": run["graph"]["content_hash"],
                "split": [split["rule"], split["index"], split["digest"]],
                "seed": run["seed"],
            }
        )
    )


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
        return next((n for n in known if self.key == _key(self.run, n)), None)

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
    from heterophily.engine.library import instruction_set

    return {**found, "instructions": instruction_set()}


def command_line() -> str:
    """Return the command of this process, without the folder of the program."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
