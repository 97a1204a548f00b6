"""Train recorded runs again and compare: does this machine give the numbers of a record?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.data.source import open_graph
from heterophily.data.splits import DRAWS
from heterophily.errors import HeterophilyError, InputError
from heterophily.evaluation.split_rules import rule_of, splits_of
from heterophily.native.version import engine_version
from heterophily.runs.job import outcome_of, train_run
from heterophily.runs.plan import Planner
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import NUMERICS, Run, SplitRef, split_digest
from heterophily.training.config import TrainConfig

READINGS: tuple[Mapping[str, Any], ...] = tuple(
    {"self_loops": loops, "direction": direction, "fill_unlabelled": fill}
    for loops, direction, fill in itertools.product(("keep", None), (None, "keep"), (None, 0))
)
"""The ways to read a dataset: a record has the content of its graph, not how it was read."""


@dataclass(frozen=True)
class Repetition:
    """A record and what the same training gives here; ``problem``: why it was not trained."""

    record: Record
    outcome: Outcome | None = None
    problem: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether every number is the same to the last bit."""
        return self.outcome is not None and self.outcome.answer == self.record.outcome.answer

    @property
    def engines(self) -> tuple[str, str]:
        """The engine as the record names it (``"?"`` in old ones), and that of this machine."""
        name = self.record.run["engine"]
        return self.record.versions.get("engine", "?"), engine_version(name, NUMERICS[name])


@dataclass(eq=False)
class Repeater:
    """Trains records of catalog datasets again; graphs that were opened are kept."""

    data_folder: str | Path | None = None
    offline: bool = False
    _graphs: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __call__(self, record: Record) -> Repetition:
        """Train the run of a record again."""
        try:
            run = self._planned(record)
            assert run.sources is not None
            return Repetition(record, outcome_of(train_run(run, run.sources)))
        except HeterophilyError as error:
            return Repetition(record, problem=str(error))

    def _planned(self, record: Record) -> Run:
        described = record.run
        graph = self._graph(described["graph"]["name"], described["graph"]["content_hash"])
        split = SplitRef(**{**described["split"], "index": int(described["split"]["index"])})
        planner = Planner(
            data_folder=self.data_folder,
            offline=self.offline,
            engine=described["engine"],
            device=described.get("device", "cpu"),
        )
        rule = rule_of(split.rule)
        splits = splits_of(
            graph,
            rule,
            repeats=split.index + 1 if rule in DRAWS else None,
            seed=int(split.seed or 0),
            dataset=described["graph"]["name"],
            data_folder=self.data_folder,
            offline=self.offline,
        )
        drawn = splits[split.index % len(splits)]
        if split_digest(drawn) != split.digest:
            raise InputError(f"split {split.index} ({rule}) is another one than in the record")
        (run,) = planner.runs_on(
            described["model"],
            _as_given(described["options"]),
            TrainConfig(**_as_given(described["config"])),
            graph,
            [drawn],
            rule=split.rule,
            seeds=[int(described["seed"])],
            drawn_by=split.seed,
            numbers=[split.index],
        )
        if run.key != record.key:
            raise InputError("this version describes the model or its settings in another way")
        return run

    def _graph(self, name: str, content_hash: str) -> Any:
        if (name, content_hash) not in self._graphs:
            where: dict[str, Any] = {"data_folder": self.data_folder, "offline": self.offline}
            opened = (open_graph(name, **where, **reading) for reading in READINGS)
            found = next((graph for graph in opened if graph.content_hash == content_hash), None)
            if found is None:
                raise InputError(f"{name}: the graph of the record is another one than that here")
            self._graphs[name, content_hash] = found
        return self._graphs[name, content_hash]


def drawn_records(records: Iterable[Record], count: int, *, seed: int) -> list[Record]:
    """Return ``count`` records of today's numerics, drawn without replacement from all of them.

    Which ones follows from the seed and the keys, whatever the order of the records.
    """
    current = {r.key: r for r in records if r.numerics == NUMERICS[r.run["engine"]]}
    keys = sorted(current)
    chosen = np.random.default_rng(seed).permutation(len(keys))[:count]
    return [current[keys[number]] for number in chosen]


def repeat(records: Iterable[Record], **where: Any) -> Iterator[Repetition]:
    """Train records again, one after the other; ``where`` are the fields of a Repeater."""
    yield from map(Repeater(**where), records)


def _as_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as one gives them: records write 64 as 64.0 and a tuple as a list."""
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
