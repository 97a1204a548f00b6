"""Take what a store has into results/tables, and make its pages and docs/paper.md anew.

    python benchmarks/science/paper_queue.py --store runs.sqlite      # trains, as long as you like
    python benchmarks/science/paper_records.py --store runs.sqlite    # records, pages, figure, map

Nothing is trained. The records that are committed and those of the store become one file; where
both have a run they must agree. Pages of which the store has no run stay as they are.
"""

from __future__ import annotations

import argparse
import io
import json
import shlex
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from heterophily.cli.app import main

FOLDER = Path("results/tables")
RECORDS = FOLDER / "runs.parquet"
SMALL = "--datasets cornell,texas,wisconsin"
SPACE = "--protocol validated --space benchmarks/science/studies/small-space.toml"
PROGRAMS = "--protocol validated --space programs"
SLOW = "geom-gcn,wrgat,diag-nsd,o(d)-nsd,gen-nsd"
BASELINES = "gat,appnp,gprgnn,bernnet,graphsage,geom-gcn"
PAGES = {
    "sota": "sota",
    "fixed-splits": "fixed-splits",
    "filterbank": f"filterbank {SMALL}",
    "batch-norm": "benchmarks/science/studies/batch-norm.toml",
    "mix-scale": f"benchmarks/science/studies/mix-scale.toml {SPACE}",
    "sota-validated": f"sota {PROGRAMS} --models {BASELINES}",
    "fixed-splits-validated": f"fixed-splits {PROGRAMS} --models {SLOW}",
    "sota-mlp": f"sota {SPACE} --models mlp-2",
    "filters-validated": f"filters {SPACE} {SMALL}",
    "w-mix-validated": f"w-mix {SPACE} {SMALL}",
    "combined-features-validated": f"combined-features {SPACE} {SMALL}",
    "ablation-validated": f"ablation {SPACE} {SMALL}",
}
"""Name of a page -> the table that it shows. The pages of other tables are of earlier records."""


def heterophily(*words: str) -> None:
    """Give a command; what it prints is dropped, errors are not."""
    with redirect_stdout(io.StringIO()):
        code = main(words)
    if code not in (0, 1):  # 1: a table with cells that are not there yet
        raise SystemExit(code)


def show(store: Path, name: str, table: str, scratch: Path) -> int:
    """Write the page of a table and its data; return how many cells are complete."""
    words = ["paper", "table", *shlex.split(table), "--show", "--store", str(store), "--out"]
    made = scratch / f"{name}.json"
    heterophily(*words, str(made))
    complete = sum(cell["is_complete"] for cell in json.loads(made.read_text("utf-8"))["cells"])
    if complete:
        for suffix in (".json", ".md"):
            heterophily(*words, str(FOLDER / f"{name}{suffix}"))
    return complete


def renew() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, help="finished runs that are taken in")
    parser.add_argument("--pages", default=",".join(PAGES), help="with commas between")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.sqlite"
        heterophily("runs", "merge", str(RECORDS), "--store", str(store))
        if given.store is not None:
            copy = Path(folder) / "copy.sqlite"
            heterophily("runs", "backup", str(copy), "--store", str(given.store))
            heterophily("runs", "merge", str(copy), "--store", str(store))
            heterophily("runs", "export", str(RECORDS), "--store", str(store))
        for name in given.pages.split(","):
            print(f"{name:28} {show(store, name, PAGES[name], Path(folder))} cells", flush=True)
    bars = ["--results", "results/tables/sota.json", "--no-train", "--out", "results/figures"]
    heterophily("paper", "figure", "sota-bars", *bars)
    heterophily("paper", "page", "--out", "docs/paper.md")


if __name__ == "__main__":
    renew()
