"""Does the verdict agree with trained models on real graphs?

    python benchmarks/science/real_verdicts.py  # diagnose every graph of the data folder
    python benchmarks/science/real_verdicts.py --show  # the table, from the records alone

For each graph the diagnosis says whether some source from the graph adds to own features, and by
how much; ``results/real-gains`` (``python benchmarks/science/real_gains.py``) has what trained models gain
with a graph over the best without one. They agree when both say that the graph adds at least one
point, or both that it does not; a trained gain within one standard error of one point agrees with
either. The Spearman correlation of the two gains is over all graphs that have both.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from real_gain.graphs import GRAPHS, open_real
from real_gains import FOLDER as GAINS
from real_gains import gain_of
from scipy.stats import pearsonr, spearmanr

from heterophily.diagnosis.diagnose import diagnose

FOLDER = shared.RESULTS / "verdicts" / "real"
POINT = 0.01
Record = dict[str, Any]


def diagnosed(name: str) -> Record:
    """Return the diagnosis of a real graph as plain data, with its cost."""
    graph = open_real(name)
    begin = time.process_time()
    data = diagnose(graph, source=name).to_dict()
    return {
        "graph": name,
        "verdict": data["verdict"],
        "probe": data["probe"],
        "cpu_seconds": round(time.process_time() - begin, 1),
    }


def agreement(record: Record, gain: float, error: float) -> str:
    """Say whether the diagnosis and trained models give the same answer."""
    says = bool(record["verdict"]["helpful"]) or record["verdict"]["kind"] == "homophilic"
    if record["verdict"]["kind"] == "too-few":
        return "too few labels"
    if (gain >= POINT) == says:
        return "agrees"
    return "within noise" if abs(gain - POINT) <= error else "disagrees"


def table(records: Mapping[str, Record], gains: Mapping[str, tuple[float, float]]) -> str:
    """Return the comparison as Markdown."""
    titles = ["graph", "verdict", "confidence", "gain of the probe", "gain of trained models", ""]
    lines = [shared.head(titles)]
    pairs = []
    for name, record in records.items():
        found = record["probe"]["gain"]
        low, high = found["interval"]
        probe = f"{100 * found['difference']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
        trained, answer = "not yet", ""
        if name in gains:
            gain, error = gains[name]
            pairs.append((found["difference"], gain))
            trained = f"{100 * gain:+.1f} ± {100 * error:.1f}"
            answer = agreement(record, gain, error)
        verdict = record["verdict"]
        cells = [name, verdict["kind"], verdict["confidence"], probe, trained, answer]
        lines.append(shared.line(cells))
    if len(pairs) > 2:
        ours, theirs = zip(*pairs, strict=True)
        lines += [
            "",
            f"{len(pairs)} graphs: Spearman {spearmanr(ours, theirs)[0]:.2f}, "
            f"Pearson {pearsonr(ours, theirs)[0]:.2f}.",
        ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Diagnose, compare, print."""
    parser = shared.parser(__doc__)
    parser.add_argument("--graphs", default=list(GRAPHS), type=shared.names)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args(argv)
    records = {}
    if chosen.quick:
        print(diagnosed("davis"))
    for name in chosen.graphs:
        path = chosen.out / f"{name}.json"
        if not path.is_file() and not (chosen.show or chosen.quick):
            record = diagnosed(name)
            shared.write_json(path, record)
            print(name, record["cpu_seconds"], record["verdict"]["sentence"], flush=True)
        if path.is_file():
            records[name] = shared.read_json(path)
    gains = {}
    for name in records:
        path = GAINS / f"{name}.json"
        found = gain_of(shared.read_json(path)) if path.is_file() else None
        if found is not None and math.isfinite(found[0]):
            gains[name] = found
    print(table(records, gains))


if __name__ == "__main__":
    main()
