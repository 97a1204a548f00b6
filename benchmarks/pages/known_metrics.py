"""Store the metrics of the paper's ten datasets, which a diagnosis shows as "known datasets".

python benchmarks/pages/known_metrics.py [--out src/heterophily/diagnosis/known.toml]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.data.atomic import write_text
from heterophily.data.catalog import load
from heterophily.metrics.catalog import compute_metrics

DATASETS = (*shared.NINE[:6], "deezer-europe", *shared.NINE[6:])
OUT = shared.ROOT / "src" / "heterophily" / "diagnosis" / "known.toml"


def known_toml(datasets: tuple[str, ...], data_folder: Path | None) -> str:
    """Return the file: a table of metrics for each dataset."""
    lines = [
        "# Metrics of the paper's datasets as undirected graphs without self loops, formulas as",
        "# written. Made by: python benchmarks/pages/known_metrics.py",
    ]
    for name in datasets:
        lines += ["", f"[{name}]"]
        values = compute_metrics(load(name, data_folder=data_folder)).values
        lines += [f"{metric} = {value:.4f}" for metric, value in values.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--data-folder", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    if arguments.quick:
        print(known_toml(("texas",), arguments.data_folder))
        return
    write_text(arguments.out, known_toml(DATASETS, arguments.data_folder))


if __name__ == "__main__":
    main()
