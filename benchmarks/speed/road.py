"""What the road costs over calling the engine directly: a ratio measured in one run.

    python benchmarks/speed/road.py                 # texas, acm-gcn, ten splits
    python benchmarks/speed/road.py --rounds 9

The same trainings on one thread: by one call of the engine with a prepared graph, by ``complete``
with a store in memory, and by ``complete`` with a file. Processor time, so that other programs of
the machine do not count; all alternate, and the median of their ratios is printed. The road also
writes records, which the direct call does not; "scores" are those of validation
and test nodes (ROC AUC, F1 and so on), which most runs keep.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import interleaved, parser

from heterophily import open_store
from heterophily.data.catalog import load
from heterophily.data.splits import random_splits
from heterophily.engine.run import NativeEngine
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.learning.seeding import replica_seed
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.plan import Planner
from heterophily.runs.run import Run
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica

PLAIN = SPLIT_RULES["paper-random"].stored
"""Of runs on such splits no scores besides accuracy are computed."""

KEPT = ("history", "logits", "state")
SCORED = SPLIT_RULES["random"].stored


def planned(dataset: str, model: str, count: int, rule: str) -> list[Run]:
    """Return the runs, their graph prepared."""
    graph = load(dataset)
    runs = Planner(engine="native").runs_on(
        model,
        {},
        TrainConfig(),
        graph,
        list(random_splits(graph.labels, repeats=count, seed=0)),
        rule=rule,
        seeds=[replica_seed(0, number) for number in range(count)],
    )
    assert runs[0].sources is not None
    runs[0].sources.buffers(runs[0])
    return runs


def directly(runs: list[Run]) -> None:
    """Call the engine."""
    sources = runs[0].sources
    assert sources is not None
    graph, inputs = sources.graph(runs[0]), sources.inputs(runs[0])
    build = sources.spec(runs[0]).builder(inputs, num_classes=graph.num_classes)
    tasks = [Replica(build, sources.split(run), TrainConfig(), run.seed) for run in runs]
    NativeEngine(sources.buffers(runs[0])).train(tasks, inputs, graph.labels)


def by_road(runs: list[Run], url: str = "memory:") -> None:
    """Complete the runs in an empty store."""
    with open_store(url) as store:
        complete(runs, store=store, executor=InProcess(), keep=KEPT).check()


def into_a_file(runs: list[Run]) -> None:
    """Complete the runs in a new file."""
    with tempfile.TemporaryDirectory() as folder:
        by_road(runs, str(Path(folder) / "runs.sqlite"))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--dataset", default="texas")
    options.add_argument("--model", default="acm-gcn")
    options.add_argument("--splits", default=10, type=int)
    options.add_argument("--rounds", default=5, type=int)
    given = options.parse_args()
    if given.quick:
        given.splits, given.rounds = 1, 1
    asked = (given.dataset, given.model, given.splits)
    runs, scored = planned(*asked, PLAIN), planned(*asked, SCORED)
    by_road(scored[:1])  # loads what is loaded once
    found = interleaved(
        {
            "engine": lambda: directly(runs),
            "memory": lambda: by_road(runs),
            "memory, scores": lambda: by_road(scored),
            "file": lambda: into_a_file(runs),
        },
        given.rounds,
        warm=False,
    )
    print(f"{given.model} on {given.dataset}, {len(runs)} trainings, engine directly: 1")
    direct = found.pop("engine")
    for name, turns in found.items():
        ratios = [turn.cpu / base.cpu for turn, base in zip(turns, direct, strict=True)]
        spread = f"({min(ratios):.3f} to {max(ratios):.3f})"
        print(f"  road, store in {name:<15} {median(ratios):.3f}  {spread}")


if __name__ == "__main__":
    main()
