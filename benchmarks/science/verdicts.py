"""Is the verdict of the diagnosis right? Graphs with a known truth say how often.

    python benchmarks/science/verdicts.py  # the half of the recipes for building
    python benchmarks/science/verdicts.py --seeds 0 --conditions full,labels-5 --recipes 'dating/*'
    python benchmarks/science/verdicts.py --half measure  # the other half: once, at the very end
    python benchmarks/science/verdicts.py --show               # the tables, from the records alone
    python benchmarks/science/verdicts.py --oracles-only --half all  # the truth, without any diagnosis
    python benchmarks/science/verdicts.py --quick  # two recipes, one seed, no records (but --out)

Each recipe (``verdict_suite/recipes``) is a generator with known parameters. What the best possible
rule reaches from own features, from an average over neighbours, from neighbours' features and
labels and from the structure is computed from the generator (``verdict_suite/oracle.py``); the
right verdict follows by a written rule (``verdict_suite/truth.py``). Three seeds each, with all
labels, all labels and ``quick``, 20 % and 5 % of the labels, and 1 % on the large graphs.

Records are one line of JSON each: ``oracles.jsonl`` (kept for all later runs) and
``diagnoses.jsonl`` in the folder ``--out``. A run that was stopped goes on where it was; delete
``diagnoses.jsonl``, or name another folder, to measure another version of the diagnosis.
"""

from __future__ import annotations

import fnmatch
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from verdict_suite.recipes import HALF, HALVES, RECIPES
from verdict_suite.records import (
    CONDITIONS,
    Key,
    Lines,
    Record,
    Task,
    numbers_of,
    perform,
    tasks,
    with_truth,
)
from verdict_suite.table import report

FOLDER = shared.RESULTS / "verdicts"
SEEDS = (0, 1, 2)
QUICK_RECIPES = ("small-random/five", "small-unlike/never-alike")


def chosen_recipes(half: str, pattern: str) -> list[str]:
    """Return the names of the recipes of a half that match a pattern like ``dating/*``."""
    return [
        name for name in RECIPES if half in ("all", HALF[name]) and fnmatch.fnmatch(name, pattern)
    ]


def performed(todo: Sequence[Task], workers: int) -> Iterator[Record]:
    """Yield the records of tasks as they are finished."""
    if workers == 1:
        yield from map(perform, todo)
        return
    os.environ["OMP_NUM_THREADS"] = "1"  # for the workers: they share the cores already
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for future in as_completed([pool.submit(perform, task) for task in todo]):
            yield future.result()


def run(todo: Sequence[Task], oracles: Lines, diagnoses: Lines, workers: int) -> None:
    """Do what has no record yet."""
    known = {**oracles.read(), **diagnoses.read()}
    missing = [task for task in todo if task.key not in known]
    for number, record in enumerate(performed(missing, workers), start=1):
        is_oracle = "condition" not in record
        (oracles if is_oracle else diagnoses).append(record)
        what = "truth" if is_oracle else f"{record['condition']}: {record['kind']}"
        print(
            f"{number} of {len(missing)}  {record['recipe']} seed {record['seed']}  {what} "
            f"({record['seconds']} s)",
            flush=True,
        )


def tables(todo: Sequence[Task], oracles: Lines, diagnoses: Lines) -> str:
    """Return the tables over those tasks that are done."""
    truths, verdicts = oracles.read(), diagnoses.read()
    keys = [task.key for task in todo]
    found: dict[Key, Record] = {key: truths[key] for key in keys if key in truths}
    judged = [
        with_truth(verdicts[key], numbers_of(truths[*key[:3], None]))
        for key in keys
        if key in verdicts and (*key[:3], None) in truths
    ]
    return report(judged, found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = shared.parser(__doc__)
    parser.add_argument("--half", default="build", choices=(*HALVES, "all"))
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help="separated by commas")
    parser.add_argument("--recipes", default="*", metavar="PATTERN", help="such as 'dating/*'")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="separated by commas")
    parser.add_argument("--workers", default=1, type=int)
    parser.add_argument("--show", action="store_true", help="run nothing, print the tables")
    parser.add_argument("--oracles-only", action="store_true", help="the truth, no diagnosis")
    parser.add_argument("--out", type=Path, help=f"of diagnoses.jsonl; default {FOLDER}")
    parser.add_argument("--oracles", type=Path, help=f"default {FOLDER / 'oracles.jsonl'}")
    options = parser.parse_args(argv)
    if options.quick:
        options.conditions, options.seeds = "quick", "0"
    conditions = [] if options.oracles_only else options.conditions.split(",")
    if unknown := set(conditions) - set(CONDITIONS):
        parser.error(f"unknown conditions {sorted(unknown)}; known: {', '.join(CONDITIONS)}")
    recipes = chosen_recipes(options.half, options.recipes)
    if not recipes:
        parser.error(f"no recipe of half {options.half!r} matches {options.recipes!r}")
    seeds = [int(seed) for seed in options.seeds.split(",")]
    todo = list(tasks(list(QUICK_RECIPES) if options.quick else recipes, seeds, conditions))
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or (Path(scratch) if options.quick else FOLDER)
        truths = options.oracles or (folder if options.quick else FOLDER) / "oracles.jsonl"
        oracles, diagnoses = Lines(truths), Lines(folder / "diagnoses.jsonl")
        if not options.show:
            try:
                run(todo, oracles, diagnoses, options.workers)
            except KeyboardInterrupt:
                print("stopped; finished records are kept")
        print(tables(todo, oracles, diagnoses))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
