"""The page ``docs/paper.md``: every part of the paper with its command, its record, its agreement.

What there is stands in ``paper/places.toml``; the numbers are read from the records under
``results/``. Nothing of the page is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.errors import InputError, lookup
from heterophily.paper.printed import read_places
from heterophily.paper.published_tables import published_table
from heterophily.report.paper_tables import agreement, complete_cells
from heterophily.statistics.ranks import rank_correlations
from heterophily.studies.study import study

PARTS = {"equation": "Equations and statements", "table": "Tables", "figure": "Figures"}
NONE = "—"

HEADER = """# The paper, part by part

Every equation, table and figure of "Revisiting Heterophily for Graph Neural Networks", with what
computes it here, the record that it was computed from, and how far ours and theirs agree. Labels
are those of the paper's source. "Within one (two)": cells whose mean lies within one (two)
published standard deviations of the published mean. Orders are compared among the cells that both
have. "Earlier numerics": trained before the native engine gave the same bits on every processor;
such cells agree with today's within the spread of a training.

This page is generated from the records under `results/`:
`heterophily paper page --out docs/paper.md`.
"""


@dataclass(frozen=True)
class Place:
    """A part of the paper, as ``places.toml`` has it."""

    part: str
    label: str
    what: str
    how: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    record: tuple[str, ...] = ()
    agreement: str | None = None
    figure: str | None = None
    wanted: int | None = None


def places() -> tuple[Place, ...]:
    """Return every part of the paper, in its order.

    >>> places()[0].label
    'eq:gcn_original'
    """
    found = []
    for entry in read_places():
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        found.append(Place(**values))
    return tuple(found)


def paper_page(results: Path) -> str:
    """Return the page, from the records in a folder."""
    if not (results / "tables").is_dir():
        raise InputError(f"{results} has no folder tables; name the folder of the records")
    lines = [HEADER]
    for part, title in PARTS.items():
        lines += [f"## {title}", "", "| in the paper | what | here | record | agreement |"]
        lines.append("|---|---|---|---|---|")
        for place in places():
            if place.part == part:
                lines.append(_row(place, results))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _row(place: Place, results: Path) -> str:
    how = "<br>".join(f"`{text}`" for text in place.how) or NONE
    there = [name for name in place.record if (results / name).exists()]
    records = [f"[{name}](../results/{name})" for name in there]
    tests = [f"[{Path(name).name}](../{name})" for name in place.tests]
    said = NONE
    if place.agreement is not None:
        said = lookup(READERS, "kind of agreement", place.agreement)(place, results)
    elif tests:
        said = "held by tests"
    label = place.label.replace(", ", "<br>")
    cells = [label, place.what, how, "<br>".join([*records, *tests]) or NONE, said]
    return "| " + " | ".join(cells) + " |"


# --- how records are read --------------------------------------------------------------------


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _table(place: Place, results: Path) -> str:
    """A table of the paper, from the pages of several protocols: see :func:`agreement`."""
    found = [_json(results / name) for name in place.record if (results / name).exists()]
    return agreement(found) if found else "not run"


def _baselines(place: Place, results: Path) -> str:
    """The folder of one file per baseline and dataset; cells trained since then come first."""
    table = published_table("fixed-splits")
    rows = [name for name in table.models if not name.startswith("acm")]
    shape = (len(rows), len(table.datasets))
    ours, theirs = np.full(shape, np.nan), np.full(shape, np.nan)
    within, full = {1: 0, 2: 0}, 0
    wanted = sum((row, name) in table.cells for row in rows for name in table.datasets)
    later = complete_cells(_json(path)) if (path := results / place.record[1]).exists() else {}
    for i, row in enumerate(rows):
        for j, name in enumerate(table.datasets):
            path = results / place.record[0] / f"{row}--{name}--fixed.json"
            printed = table.cells.get((row, name))
            cell = later.get((row, name))
            if printed is None or (cell is None and not path.exists()):
                continue
            test = cell["test"] if cell else [run["test"] for run in chosen_runs(_json(path))]
            ours[i, j], theirs[i, j] = np.mean(test), printed.mean
            full += len(test) >= 10
            for times in within:
                gap = abs(ours[i, j] - theirs[i, j])
                within[times] += printed.std is not None and gap <= times * printed.std
    known = ~np.isnan(ours)
    order = [value for value in rank_correlations(ours, theirs) if value is not None]
    if not known.any():
        return "not run"
    texts = [
        f"{known.sum()} of {wanted} printed cells ({full} on all ten splits), settings of "
        "programs, chosen on validation data",
        f"within one {within[1]}, two {within[2]} of {known.sum()}",
        f"mean difference {100 * np.mean((ours - theirs)[known]):+.2f} points",
    ]
    if order:
        texts.append(f"order (Spearman, mean over datasets) {np.mean(order):.2f}")
    return "; ".join(texts)


def chosen_runs(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the runs of the setting that is best on validation data of the first splits.

    >>> one, other = ({"runs": {"0": {"validation": v, "test": 0.5}}} for v in (0.8, 0.9))
    >>> chosen_runs({"search_splits": 1, "candidates": [one, other]})[0]["validation"]
    0.9
    """
    found: list[list[Mapping[str, Any]]] = [
        list(candidate["runs"].values()) for candidate in record["candidates"]
    ]
    searched = record["search_splits"] or None
    return max(found, key=lambda runs: np.mean([run["validation"] for run in runs[:searched]]))


def _filterbank(place: Place, results: Path) -> str:
    """Gains of weights of each node over one weight per channel, over the complete pairs."""
    path = results / place.record[0]
    if not path.exists():
        return "not run"
    content = _json(path)
    means = {(c["row"], c["dataset"]): c["mean"] for c in content["cells"] if c["is_complete"]}
    pairs = {
        (row, name): mean - means[f"{row}[scalar]", name]
        for (row, name), mean in means.items()
        if (f"{row}[scalar]", name) in means
    }
    if not pairs:
        return "not run"
    gains, whole = list(pairs.values()), study("filterbank")
    wins, graphs = sum(gain > 0 for gain in gains), dict.fromkeys(name for _, name in pairs)
    return (
        f"{len(gains)} of {len(whole.rows) // 2 * len(whole.datasets)} pairs "
        f"({', '.join(graphs)}); weights of each node are better in {wins}, mean gain "
        f"{100 * np.mean(gains):+.2f} points"
    )


def _scales(place: Place, results: Path) -> str:
    """The mixture with factors of its own: mean accuracies by dataset, each row searched alone."""
    path = results / place.record[0]
    if not path.exists():
        return "not run"
    content = _json(path)
    texts = []
    for row in content["rows"]:
        means = {c["dataset"]: c["mean"] for c in content["cells"] if c["row"] == row}
        known = {name: f"{100 * mean:.2f}" for name, mean in means.items() if mean is not None}
        texts.append(f"{row}: {', '.join(f'{name} {mean}' for name, mean in known.items())}")
    return "each searched on its own; " + "; ".join(texts)


def _metrics(place: Place, results: Path) -> str:
    path = results / place.record[0]
    if not path.exists():
        return "not run"
    content = _json(path)
    groups = {
        "H_edge, H_node, H_class": ("edge_homophily", "node_homophily", "class_homophily"),
        "H_agg, S_agg, DD": (
            "aggregation_homophily",
            "aggregation_similarity",
            "feature_similarity",
            "diversification_distinguishability",
        ),
        "H_agg^M": ("modified_aggregation_homophily",),
    }
    texts = []
    for title, names in groups.items():
        values = [value for value in content["values"] if value["metric"] in names]
        texts.append(f"{title}: {sum(v['agrees'] for v in values)} of {len(values)} to 4 decimals")
    drawn = content.get("estimates", [])
    if drawn:
        inside = sum(cell["is_within_spread"] for cell in drawn)
        texts.append(f"estimates: {inside} of {len(drawn)} within the printed spread")
    return "; ".join(texts)


def _bars(place: Place, results: Path) -> str:
    bars = [
        b for panel in _json(results / place.record[0])["data"]["panels"] for b in panel["bars"]
    ]
    ours = [bar for bar in bars if bar["ours"] is not None]
    pairs = [bar for bar in ours if bar["published"] is not None]
    within = sum(abs(b["ours"][0] - b["published"][0]) <= b["published"][1] for b in pairs)
    return f"{len(ours)} of {len(bars)} bars drawn from records; {within} within one"


def _levels(place: Place, results: Path) -> str:
    """How many searches (a model on a graph) a figure on synthetic graphs has.

    They are counted in the data of the figure in full; before it is drawn, in the runs of before
    there was a store.
    """
    import pyarrow.parquet as pq

    *drawn, earlier = (results / name for name in place.record)
    whole = [data for path in drawn if path.exists() and _is_whole(data := _json(path)["study"])]
    if whole:
        searches = sum(len(s["models"]) * len(s["levels"]) * s["graphs"] for s in whole)
        return f"{searches:,} of {place.wanted:,} searches (a model on a graph)"
    table = pq.read_table(earlier, columns=["figure", "unit_key"])
    found = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    searches = len({key for figure, key in found if figure == place.figure})
    if place.figure is not None and place.figure.endswith("-digits"):
        return (
            f"{searches:,} searches (a model on a graph), the quick version on embedded digits; in "
            f"full {place.wanted:,}"
        )
    return f"{searches:,} of {place.wanted:,} searches (a model on a graph)"


def _is_whole(study: Mapping[str, Any]) -> bool:
    """Whether a study has the paper's search range and size of graphs; it may have fewer levels."""
    return (study["search"], study["nodes_per_class"], study["max_epochs"]) == ("paper", 400, 5000)


def _exists(place: Place, results: Path) -> str:
    missing = [name for name in place.record if not (results / name).exists()]
    return "not drawn" if missing else "drawn; the paper prints no numbers"


READERS: Mapping[str, Callable[[Place, Path], str]] = {
    "table": _table,
    "baselines": _baselines,
    "filterbank": _filterbank,
    "scales": _scales,
    "metrics": _metrics,
    "bars": _bars,
    "levels": _levels,
    "exists": _exists,
}
"""Name in ``places.toml`` -> how the records of a place are summed up."""
