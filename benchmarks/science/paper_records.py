"""Take what a store has into results/tables, and make its pages and docs/paper.md anew.

    python benchmarks/science/paper_queue.py --store runs.sqlite      # trains, as long as you like
    python benchmarks/science/paper_records.py --store runs.sqlite    # records, pages, figure, map

Nothing is trained. The records that are committed and those of the store become one file; where
both have a run they must agree. Pages of which the store has no run stay as they are. The files of
``results/zoo-fixed-splits`` (accuracies from before there was a store) go one by one: a cell that has
records loses its file, and the page of that folder shows the records.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
import zoo_accuracy
from shared import heterophily

from heterophily.data.atomic import write_text
from heterophily.paper.published_tables import published_table
from heterophily.report.paper_tables import complete_cells

FOLDER = shared.RESULTS / "tables"
RECORDS = FOLDER / "runs.parquet"
STUDIES = "benchmarks/science/studies"  # from the root: pages print the commands
SMALL = "--datasets cornell,texas,wisconsin"
SPACE = f"--protocol validated --space {STUDIES}/small-space.toml"
PROGRAMS = "--protocol validated --space programs"
BASELINES = "gprgnn,bernnet,geom-gcn"
FIXED = published_table("fixed-splits").models
ACM_OF_FIXED = ",".join(model for model in FIXED if model.startswith("acm"))
OF_FIXED = ",".join(model for model in FIXED if not model.startswith("acm"))
ZOO_PAGE = "fixed-splits-validated"
PAGES = {
    "sota": "sota",
    "fixed-splits": f"fixed-splits --models {ACM_OF_FIXED}",
    "filterbank": f"filterbank {SMALL}",
    "batch-norm": f"{STUDIES}/batch-norm.toml",
    "mix-scale": f"{STUDIES}/mix-scale.toml {SPACE}",
    "sota-validated": f"sota {PROGRAMS} --models {BASELINES}",
    ZOO_PAGE: f"fixed-splits {PROGRAMS} --models {OF_FIXED}",
    "sota-own": f"sota {SPACE} {SMALL} --models mlp-2,gat,graphsage,fagcn",
    "sota-short": f"sota --protocol validated --space {STUDIES}/four-settings.toml "
    "--models mlp-2,gat,graphsage --datasets cora,citeseer,film,chameleon,squirrel",
    "sota-appnp": f"sota --protocol validated --space {STUDIES}/appnp-space.toml --models appnp",
    "filters-validated": f"filters {SPACE} {SMALL}",
    "w-mix-validated": f"w-mix {SPACE} {SMALL}",
    "combined-features-validated": f"combined-features {SPACE} {SMALL}",
    "ablation-validated": f"ablation {SPACE} {SMALL}",
}
"""Name of a page -> the table that it shows. The pages of other tables are of earlier records."""


def show(store: Path, name: str, table: str, scratch: Path, out: Path | None) -> int:
    """Write the page of a table and its data; return how many cells are complete."""
    words = ["paper", "table", *shlex.split(table), "--show", "--store", str(store), "--out"]
    made = scratch / f"{name}.json"
    heterophily(*words, str(made))
    complete = sum(cell["is_complete"] for cell in shared.read_json(made)["cells"])
    if complete and out is not None:
        for suffix in (".json", ".md"):
            heterophily(*words, out / f"{name}{suffix}")
    return complete


def replace_files() -> None:
    """Remove the files of accuracies, from before there was a store, of cells with records."""
    if (page := FOLDER / f"{ZOO_PAGE}.json").exists():
        for row, dataset in complete_cells(shared.read_json(page)):
            zoo_accuracy.path_of(zoo_accuracy.FOLDER, row, dataset).unlink(missing_ok=True)
    write_text(zoo_accuracy.FOLDER / "README.md", zoo_accuracy.page(zoo_accuracy.FOLDER))


def renew() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--store", type=Path, help="finished runs that are taken in")
    parser.add_argument("--pages", default=",".join(PAGES), help="with commas between")
    given = parser.parse_args()
    given.store = given.store and given.store.resolve()
    os.chdir(shared.ROOT)
    if given.quick:
        given.pages, given.store = "mix-scale", None
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.sqlite"
        if not given.quick:  # quick: the page of an empty store
            heterophily("runs", "merge", str(RECORDS), "--store", str(store))
        if given.store is not None:
            copy = Path(folder) / "copy.sqlite"
            heterophily("runs", "backup", str(copy), "--store", str(given.store))
            heterophily("runs", "merge", str(copy), "--store", str(store))
            heterophily("runs", "export", str(RECORDS), "--store", str(store))
        out = None if given.quick else FOLDER
        for name in given.pages.split(","):
            print(
                f"{name:28} {show(store, name, PAGES[name], Path(folder), out)} cells", flush=True
            )
    if given.quick:
        return
    bars = ["--results", FOLDER / "sota.json", "--no-train", "--out"]
    heterophily("paper", "figure", "sota-bars", *bars, shared.RESULTS / "figures")
    replace_files()
    heterophily("paper", "page", "--out", shared.DOCS / "paper.md")


if __name__ == "__main__":
    renew()
