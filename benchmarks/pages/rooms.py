"""Draw the rooms of the package before and after there was one road for a training.

    python benchmarks/pages/rooms.py --before f230095~1 --out docs/images/rooms.png

Rooms stand in the order of their imports, the lowest at the bottom. A grey line is an import, a
red one points upwards or goes both ways. Rooms that call ``fit`` or ``fit_replicas`` themselves are
red, with the number of their modules that do.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

FOLDER = "src/heterophily/"
TRAINS = {"fit", "fit_replicas"}
MODULES = {"heterophily.training.fit", "heterophily.training.replicas"}


class House:
    """The rooms of a commit: who imports whom, who trains."""

    def __init__(self, commit: str) -> None:
        self.imports: Counter[tuple[str, str]] = Counter()
        self.callers: Counter[str] = Counter()
        self.sizes: Counter[str] = Counter()
        for path, text in sources(commit).items():
            room = path.removeprefix(FOLDER).split("/")[0].removesuffix(".py")
            if room == "__init__":
                continue
            self.sizes[room] += text.count("\n")
            for module, names in imported(text):
                other = module.split(".")[1] if module.startswith("heterophily.") else room
                if other != room:
                    self.imports[room, other] += 1
                if module in MODULES and names & TRAINS and room != "training":
                    self.callers[room] += 1

    def levels(self) -> dict[str, int]:
        """Return the line of each room: above all that it imports; circles are cut at the least."""
        edges = {pair for pair in self.imports if not self.is_upwards(pair)}
        found = dict.fromkeys(self.sizes, 0)
        for _ in found:
            for room, other in edges:
                found[room] = max(found[room], found[other] + 1)
        return found

    def is_upwards(self, pair: tuple[str, str]) -> bool:
        """Whether two rooms import each other, and this is the rarer direction."""
        room, other = pair
        return self.imports[room, other] < self.imports[other, room]


def sources(commit: str) -> dict[str, str]:
    """Return the text of every module of a commit."""
    command = ["git", "archive", "--format=tar", commit, FOLDER]
    packed = subprocess.run(command, check=True, capture_output=True, cwd=shared.ROOT).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {
            each.name: archive.extractfile(each).read().decode()  # type: ignore[union-attr]
            for each in archive
            if each.name.endswith(".py")
        }


def imported(text: str) -> list[tuple[str, set[str]]]:
    """Return the modules that a source imports, with the names taken from each."""
    return [
        (node.module, {alias.name for alias in node.names})
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module
    ]


def draw(axes: Any, house: House, title: str) -> None:
    levels = house.levels()
    rows: dict[int, list[str]] = {}
    for room in sorted(levels):
        rows.setdefault(levels[room], []).append(room)
    place = {
        room: ((number + 1) / (len(names) + 1), level)
        for level, names in rows.items()
        for number, room in enumerate(names)
    }
    for pair, count in house.imports.items():
        (x, y), (u, v) = place[pair[0]], place[pair[1]]
        red = v >= y
        style = {"color": "tab:red" if red else "0.8", "lw": 0.4 + 0.25 * min(count, 12) ** 0.5}
        axes.plot([x, u], [y, v], zorder=1 + red, **style)
    for room, (x, y) in place.items():
        calls = house.callers[room]
        text = f"{room}\n{calls} train" if calls > 1 else f"{room}\n1 trains" if calls else room
        box = {"boxstyle": "round", "fc": "#f4b6b0" if calls else "white", "ec": "0.4"}
        axes.text(x, y, text, ha="center", va="center", fontsize=8, bbox=box, zorder=4)
    trains = sum(house.callers.values())
    who = f"{trains} modules call" if trains > 1 else "one module calls"
    axes.set_title(f"{title}: {len(place)} rooms, {who} what trains", fontsize=11)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.7, max(rows) + 0.7)
    axes.axis("off")


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("--before", default="HEAD", help="a commit")
    parser.add_argument("--after", default="HEAD", help="a commit")
    parser.add_argument("--out", type=Path, help="the picture")
    given = parser.parse_args()
    if given.out is None and not given.quick:
        parser.error("name the picture: --out FILE")
    figure, parts = plt.subplots(1, 2, figsize=(13, 8), layout="constrained")
    commits = {"before": given.before, "after": given.after}
    houses = {commit: House(commit) for commit in set(commits.values())}
    for axes, (title, commit) in zip(parts, commits.items(), strict=True):
        house = houses[commit]
        print(title, dict(house.callers), "largest", house.sizes.most_common(3))
        draw(axes, house, title)
    with tempfile.TemporaryDirectory() as folder:
        figure.savefig(Path(folder) / "rooms.png" if given.quick else given.out, dpi=110)


if __name__ == "__main__":
    main()
