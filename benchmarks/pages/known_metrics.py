"""Store the metrics of the paper's ten datasets, which a diagnosis shows as "known datasets".

python benchmarks/pages/known_metrics.py [--out src/heterophily/diagnosis/known.toml]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from heterophily.data.atomic import write_text
from heterophily.data.catalog import load
from heterophily.metrics.catalog import compute_metrics

DATASETS = (
    "cornell", "wisconsin", "texas", "film", "chameleon",
    "squirrel", "deezer-europe", "cora", "citeseer", "pubmed",
)  # fmt: skip


def known_toml(data_folder: Path | None) -> str:
    """Return the file: a table of metrics for each dataset."""
    lines = [
        "# Metrics of the paper's datasets as undirected graphs without self loops, formulas as",
        "# written. Made by: python benchmarks/pages/known_metrics.py",
    ]
    for name in DATASETS:
        lines += ["", f"[{name}]"]
        values = compute_metrics(load(name, data_folder=data_folder)).values
        lines += [f"{metric} = {value:.4f}" for metric, value in values.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("src/heterophily/diagnosis/known.toml"))
    arguments = parser.parse_args()
    write_text(arguments.out, known_toml(arguments.data_folder))


if __name__ == "__main__":
    main()
