"""Records that survive a kill: one line of JSON per oracle and per diagnosis."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.diagnosis.diagnose import diagnose
from heterophily.errors import InputError
from verdict_suite.generate import Recipe, hide_labels, seeded_sample
from verdict_suite.oracle import method, oracle
from verdict_suite.recipes import RECIPES
from verdict_suite.truth import Numbers, acceptable_kinds

Record = dict[str, Any]
Key = tuple[Any, ...]

REFUSED, CRASHED = "refused", "crashed"
DIGITS = 5


@dataclass(frozen=True, slots=True)
class Condition:
    """How much the diagnosis gets to see."""

    labels: float = 1.0
    quick: bool = False
    from_nodes: int = 0  # smaller graphs are left out


CONDITIONS = {
    "full": Condition(),
    "quick": Condition(quick=True),
    "labels-20": Condition(0.2),
    "labels-5": Condition(0.05),
    "labels-1": Condition(0.01, from_nodes=8_000),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One line to be made: an oracle (no condition), or a diagnosis."""

    recipe: str
    seed: int
    condition: str | None = None

    @property
    def key(self) -> Key:
        """What the line is found by; another fingerprint is another recipe."""
        return (self.recipe, RECIPES[self.recipe].fingerprint, self.seed, self.condition)


def tasks(names: list[str], seeds: list[int], conditions: list[str]) -> Iterator[Task]:
    """Return everything that a run needs: oracles first, then one condition after the other."""
    for name in names:
        yield from (Task(name, seed) for seed in seeds)
    for condition in conditions:
        for name in names:
            if RECIPES[name].nodes >= CONDITIONS[condition].from_nodes:
                yield from (Task(name, seed, condition) for seed in seeds)


def perform(task: Task) -> Record:
    """Return the record of a task."""
    recipe = RECIPES[task.recipe]
    start = time.perf_counter()
    head = {"recipe": task.recipe, "fingerprint": recipe.fingerprint, "seed": task.seed}
    if task.condition is None:
        found: Record = {"method": method(recipe), **_rounded(oracle(recipe, task.seed).to_dict())}
    else:
        verdict = verdict_on(recipe, task.seed, CONDITIONS[task.condition])
        found = {"condition": task.condition, **verdict}
    return {**head, **found, "seconds": round(time.perf_counter() - start, 2)}


def verdict_on(recipe: Recipe, seed: int, condition: Condition) -> Record:
    """Return what the diagnosis says; a refusal and a crash are answers too."""
    graph = hide_labels(seeded_sample(recipe, seed).graph(), condition.labels, recipe, seed)
    try:
        verdict = diagnose(graph, quick=condition.quick, seed=seed).verdict
    except InputError as error:
        return {"kind": REFUSED, "confidence": "", "why": str(error)}
    except Exception as error:
        return {"kind": CRASHED, "confidence": "", "why": f"{type(error).__name__}: {error}"}
    return {"kind": verdict.kind, "confidence": verdict.confidence}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, DIGITS) if isinstance(value, float) else value


class Lines:
    """A file of records, appended to line by line; a line cut off by a kill is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[Key, Record]:
        """Return the records by key; of two with one key the later counts."""
        if not self.path.is_file():
            return {}
        found = {}
        for line in self.path.read_text("utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            key = tuple(record.get(name) for name in ("recipe", "fingerprint", "seed", "condition"))
            found[key] = record
        return found

    def append(self, record: Record) -> None:
        """Add a record and make sure that it is on disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell() and not self._ends_with_newline():
                file.write(b"\n")
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _ends_with_newline(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def numbers_of(record: Record) -> Numbers:
    """Return the numbers of an oracle's record."""
    fields = (
        "score",
        "chance",
        "scores",
        "adjusted_homophily",
        "label_informativeness",
    )
    return Numbers(**{name: record[name] for name in fields})


def with_truth(record: Record, numbers: Numbers) -> Record:
    """Return a diagnosis with the kinds that are right for its graph."""
    return {**record, "truth": list(acceptable_kinds(numbers))}
