"""A run: what to train, under which key, and where its parts come from. No torch here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from heterophily.data.splits import Split
    from heterophily.runs.sources import Sources

NUMERICS = {"torch": 1, "native": 4}
"""By engine; raised when the numbers of an unchanged run change on purpose (new kernels that round
otherwise, say): old records of that engine then stay aside."""

_EXACT = 2**53  # whole numbers up to here are exact as floats
_AS_THEY_ARE = frozenset({str, float, bool, type(None)})


def canonical(value: Any) -> str:
    """Return plain data as one text: keys sorted, 64 and 64.0 alike, no NaN.

    >>> canonical({"b": (1, True), "a": 0.1})
    '{"a":0.1,"b":[1.0,true]}'
    """
    return json.dumps(
        _uniform(value), sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )


def _uniform(value: Any) -> Any:
    if type(value) in _AS_THEY_ARE:
        return value
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
    device
        ``"cpu"`` or a GPU: its roundings differ too.
    sources
        Where graph, split and model of the run are found. It stays in this process: jobs carry it
        to workers, once for all runs.
    """

    model: str
    options: Mapping[str, Any]
    config: Mapping[str, Any]
    graph: GraphRef
    split: SplitRef
    seed: int
    resolved: Mapping[str, Any]
    engine: str = "torch"
    device: str = "cpu"
    sources: Sources | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to a worker."""
        return {**self.__dict__, "sources": None}

    @cached_property
    def key(self) -> str:
        """sha256 of model options, hyper-parameters, graph, split, seed and numerics version."""
        return key_of(self.to_dict(), NUMERICS[self.engine])

    @cached_property
    def earlier_keys(self) -> tuple[str, ...]:
        """The keys under which this training may have been finished before, the newest first.

        Those of earlier numerics of its engine; then torch's: the native engine learns new models.
        """
        facts, torch = self.to_dict(), {**self.to_dict(), "engine": "torch"}
        before = [key_of(facts, number) for number in range(NUMERICS[self.engine] - 1, 0, -1)]
        return (*before, *([] if self.engine == "torch" else [key_of(torch, NUMERICS["torch"])]))

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "model": self.model,
            "options": dict(self.options),
            "config": dict(self.config),
            "graph": _facts(self.graph),
            "split": _facts(self.split),
            "seed": self.seed,
            "resolved": dict(self.resolved),
            "engine": self.engine,
            **({} if self.device == "cpu" else {"device": self.device}),
        }


def _facts(part: GraphRef | SplitRef) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}  # asdict takes five times as long


def key_of(run: Mapping[str, Any], numerics: int) -> str:
    """Return the key of a run that is given as plain data."""
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
                **({"device": run["device"]} if "device" in run else {}),
            }
        )
    )
