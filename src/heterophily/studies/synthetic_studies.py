"""The declared studies on synthetic graphs, and what they will cost. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.catalog import DATASETS, find
from heterophily.data.graph import Graph
from heterophily.data.synthetic.features import open_base, with_classes
from heterophily.errors import InputError
from heterophily.studies.study import Study, study
from heterophily.studies.synthetic import SyntheticStudy, Unit, trials

if TYPE_CHECKING:
    from heterophily.studies.cost import Cost, RunClock


def declared(name: str | Study) -> tuple[SyntheticStudy, ...]:
    """Return the studies that a figure is made of, one for each base.

    >>> [found.base for found in declared("synthetic-models")][:3]
    ['cora', 'citeseer', 'pubmed']
    >>> len(declared("regular")[0].levels)
    18
    """
    found = name if isinstance(name, Study) else study(name)
    if not found.synthetic:
        raise InputError(f"{found.name} is not a study on synthetic graphs")
    fields = dict(found.synthetic)
    bases = fields.pop("bases")
    try:
        return tuple(SyntheticStudy(base=base, **_tuples(fields)) for base in bases)
    except TypeError as error:
        raise InputError(f"study {found.name}, synthetic: {error}") from None


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }


def synthetic_cost(studies: Sequence[SyntheticStudy], clock: RunClock | None) -> Cost:
    """Return trainings and time on one worker; without a clock the trainings alone.

    An epoch costs a fixed part and a part that grows with the edges, which are as 1/level; so one
    graph of the lowest and one of the highest level are generated and measured for each base.
    """
    from heterophily.studies.cost import Cost

    runs, seconds = 0, 0.0
    is_known = True
    for found in studies:
        each = {model: len(trials(model, found.search)) for model in found.models}
        runs += found.graphs * len(found.levels) * sum(each.values())
        if clock is None or not _is_here(found.base, clock.data_folder):
            is_known = False
            continue
        ends = (min(found.levels), max(found.levels))
        for level in ends:
            name = f"{found.generator}-{found.base}-{level:g}"
            opener = partial(_graph_of, found, level, clock.data_folder)
            clock.measure(found.models, name, opener)
        for model, count in each.items():
            slow, fast = (
                clock.seconds_per_run(model, f"{found.generator}-{found.base}-{end:g}", "random")
                for end in ends
            )
            assert slow is not None
            assert fast is not None
            span = 1 / ends[0] - 1 / ends[1] or 1.0
            shares = [(1 / level - 1 / ends[1]) / span for level in found.levels]
            times = [fast + (slow - fast) * share for share in shares]
            seconds += found.graphs * count * sum(times)
    return Cost(runs, seconds if is_known else None)


def _graph_of(found: SyntheticStudy, level: float, data_folder: Path | None) -> Graph:
    base = open_base(found.base, data_folder=data_folder, offline=True)
    unit = Unit(found, found.models[0], level, 0)
    return unit.make_graph(with_classes(base, found.classes))[0]


def _is_here(base: str, data_folder: Path | None) -> bool:
    return base not in DATASETS or find(base, data_folder)[0] != "to download"
