"""Fill the results of README.md from the records under ``results/``.

    python benchmarks/pages/readme_table.py            # rewrite the marked section of README.md
    python benchmarks/pages/readme_table.py --show     # print it only

Read are the declared study ``sota`` (``tables/sota.json``, made by ``heterophily paper table sota
--out``) and, once all nine datasets are run, ``auto-recipe``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.data.atomic import write_text

STUDY = shared.RESULTS / "tables" / "sota.json"
AUTO = shared.RESULTS / "auto-recipe"
START, END = "<!-- results: python benchmarks/pages/readme_table.py -->", "<!-- end of results -->"
AUTO_ROWS = {"auto": "test_before_refit", "auto, refit": "test"}
MODELS = ("acm-sgc-1", "acm-gcn", "acmii-gcn", "acm-gcn+", "acmii-gcn++")
DATASETS = shared.NINE

Record = Mapping[str, Any]


def read_records(folder: Path) -> list[Record]:
    return [shared.read_json(path) for path in sorted(folder.glob("*.json"))]


def section() -> str:
    """Return the marked section: tables with ours, the paper's number in brackets, and words."""
    study, auto = shared.read_json(STUDY), read_records(AUTO)
    found = {(cell["row"], cell["dataset"]): cell for cell in study["cells"]}
    rows = {model: [study_cell(found[model, name]) for name in DATASETS] for model in MODELS}
    lines = [*table(rows), "", summary(study)]
    if len(auto) == len(DATASETS):
        by_name = {record["dataset"]: record for record in auto}
        rows = {
            title: [cell(auto_record(by_name[name], part)) for name in DATASETS]
            for title, part in AUTO_ROWS.items()
        }
        lines += ["", auto_summary(auto), "", *table(rows)]
    return "\n".join(["", *lines, ""])


def table(rows: Mapping[str, list[str]]) -> list[str]:
    return [
        shared.head(["", *DATASETS]),
        *(shared.line([name, *cells]) for name, cells in rows.items()),
    ]


def auto_record(record: Record, part: str) -> Record:
    """Return a record of the recipe in the form of the others."""
    return {"test_accuracy": record[part]["accuracy"], "published": record["paper"]}


def auto_summary(records: Iterable[Record]) -> str:
    reached = dict.fromkeys(AUTO_ROWS.values(), 0)
    for record in records:
        for part in reached:
            ours, paper = record[part]["accuracy"]["mean"], record["paper"]["mean"]
            reached[part] += round(100 * ours, 2) >= round(100 * paper, 2)
    before, again = reached.values()
    return (
        "The recipe `auto` (models and settings chosen on validation nodes), ten fixed splits; in "
        f"brackets the best ACM row of the paper. It is reached on {before} of {len(DATASETS)} "
        "datasets when the chosen models are trained on the training nodes, as the paper's are, "
        f"and on {again} when they are then trained again with the labels of the validation nodes "
        "too, `--refit` ([to be read with care](docs/research/2026-11-17-auto-recipes.md)):"
    )


def cell(record: Record | None) -> str:
    """Return one cell in percent.

    >>> cell({"test_accuracy": {"mean": 0.9328}, "published": {"mean": 0.9492}})
    '93.3 (94.9)'
    """
    if record is None:
        return ""
    return f"{100 * record['test_accuracy']['mean']:.1f} ({100 * record['published']['mean']:.1f})"


def study_cell(found: Record) -> str:
    """Return one cell of a study in percent.

    >>> study_cell({"mean": 0.9328, "published": {"mean": 0.9492}})
    '93.3 (94.9)'
    """
    return cell({"test_accuracy": found, "published": found["published"]})


def summary(study: Record) -> str:
    facts = study["summary"]
    return (
        f"Shown are {len(MODELS)} of the {len(study['rows'])} rows of the study `sota`. All rows "
        f"and datasets: {facts['complete']} of {facts['cells']} cells are run; of them "
        f"{facts['within_one_std']} lie within one published standard deviation and "
        f"{facts['within_two_std']} within two; mean difference "
        f"{100 * facts['mean_difference']:+.2f} points "
        "([why](docs/fidelity.md#why-our-numbers-are-lower))."
    )


def filled(page: str, text: str) -> str:
    """Return the page with its marked section replaced."""
    return shared.filled(page, START, text, END)


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--show", action="store_true", help="print the section, write nothing")
    given, text = parser.parse_args(), section()
    if given.show or given.quick:
        print(text)
        return
    readme = shared.ROOT / "README.md"
    write_text(readme, filled(readme.read_text("utf-8"), text))


if __name__ == "__main__":
    main()
