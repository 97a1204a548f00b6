"""Baselines, ACM and ACMII models beside the best other model (Figure 6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.errors import InputError
from heterophily.evaluation.split_rules import rule_of
from heterophily.paper.published_tables import published_table
from heterophily.report.figures.request import Request, name_of
from heterophily.report.style import (
    BLACK,
    BLUE,
    GREEN,
    PURPLE,
    VERMILION,
    accuracy_axis,
    hide_rest,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = {
    "baseline": ("gcn", "snowball-2", "snowball-3"),
    "ACM": ("acm-gcn", "acm-snowball-2", "acm-snowball-3", "acm-gcn+", "acm-gcn++"),
    "ACMII": ("acmii-gcn", "acmii-snowball-2", "acmii-snowball-3", "acmii-gcn+", "acmii-gcn++"),
}
BASE_OF = {
    model: "-".join(model.rstrip("+").split("-")[1:])
    for group in ("ACM", "ACMII")
    for model in GROUPS[group]
}
"""Model -> the baseline that it improves."""

COLOURS = {"baseline": VERMILION, "ACM": GREEN, "ACMII": BLUE}
_HATCHES = {"baseline": "", "ACM": "//", "ACMII": ".."}


def collect(request: Request) -> dict[str, Any]:
    """Read the published table, and ours where results or a store have them."""
    table = published_table("sota")
    ours = {**_from_store(request), **_from_files(request.results)}
    panels = []
    for dataset in map(name_of, request.graphs):
        others = [m for m in table.models if "acm" not in m and table.cell(m, dataset) is not None]
        best = max(others, key=lambda model: table.cells[model, dataset].mean)
        bars = []
        for group, models in GROUPS.items():
            for model in models:
                cell = table.cell(model, dataset)
                bars.append(
                    {
                        "model": model,
                        "group": group,
                        "published": None if cell is None else [cell.mean, cell.std],
                        "ours": ours.get((model, dataset)),
                    }
                )
        value = table.cells[best, dataset].mean
        gains = [
            table.cells[model, dataset].mean - table.cells[base, dataset].mean
            for model, base in BASE_OF.items()
            if (model, dataset) in table.cells and (base, dataset) in table.cells
        ]
        panels.append(
            {
                "graph": dataset,
                "best_other": {"model": best, "mean": value},
                "gain": [round(100 * min(gains), 2), round(100 * max(gains), 2)],
                "bars": bars,
            }
        )
    return {"panels": panels}


def _from_files(paths: tuple[Path, ...]) -> dict[tuple[str, str], list[float]]:
    """Return (model, dataset) -> [mean, std] of files that ``train``, ``table`` or we wrote."""
    found = {}
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            try:
                content = json.loads(file.read_text("utf-8"))
                for cell in content.get("cells", [content]):
                    model = str(cell.get("row", cell.get("model")))
                    dataset = str(cell.get("dataset", cell.get("graph")))
                    stored = cell.get("splits", cell.get("protocol", "random"))
                    rule = cell.get("split_rule", rule_of(stored))
                    accuracy = cell.get("test_accuracy", cell)
                    if rule == "paper-random" and accuracy["mean"] is not None:
                        found[model, dataset] = [accuracy["mean"], accuracy["std"]]
            except (ValueError, AttributeError, KeyError, TypeError) as error:
                raise InputError(
                    f"{file} holds no results; --results takes what heterophily train --json or "
                    "paper table --json printed"
                ) from error
    return found


def _from_store(request: Request) -> dict[tuple[str, str], list[float]]:
    """Return (model, dataset) -> [mean, std] of the finished cells of the study ``sota``."""
    if request.store is None:
        return {}
    from heterophily.runs.stores.url import open_store
    from heterophily.studies.runner import plan_study
    from heterophily.studies.study import study

    plan = plan_study(
        study("sota"),
        engine=request.engine,
        seed=request.seed,
        data_folder=request.data_folder,
        offline=request.offline,
    )
    with open_store(request.store, must_exist=True) as store:
        cells = plan.result(store).cells
    return {
        (cell.row, cell.dataset): [cell.mean, cell.std or 0.0]
        for cell in cells
        if cell.is_complete and cell.mean is not None
    }


def draw(data: dict[str, Any]) -> Figure:
    """Draw a panel per dataset: bars are the paper's, diamonds ours, the line the best other."""
    panels = data["panels"]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    size = (0.6 + 2.5 * columns, 1.0 + 2.35 * rows)
    figure, axes = new_figure(rows, columns, size=size)
    has_ours = any(bar["ours"] for found in panels for bar in found["bars"])
    for panel, found in zip(axes.flat, panels, strict=False):
        bars = found["bars"]
        for place, bar in enumerate(bars):
            if bar["published"] is not None:
                mean, std = bar["published"]
                panel.bar(
                    place, mean, 0.8, yerr=std, color=COLOURS[bar["group"]], alpha=0.75,
                    hatch=_HATCHES[bar["group"]], edgecolor="white", linewidth=0,
                    error_kw={"elinewidth": 0.8, "capsize": 1.5},
                )  # fmt: skip
            if bar["ours"] is not None:
                mean, std = bar["ours"]
                panel.errorbar(
                    place + 0.22, mean, yerr=std, color=BLACK, marker="D", markersize=3.2,
                    markerfacecolor="white", elinewidth=0.8, capsize=1.5,
                )  # fmt: skip
        best = found["best_other"]
        panel.axhline(best["mean"], color=PURPLE, linewidth=1.4, linestyle="--")
        values = [b["published"][0] for b in bars if b["published"]] + [best["mean"]]
        values += [b["ours"][0] for b in bars if b["ours"]]
        panel.set_ylim(max(0.0, min(values) - 0.12), min(1.0, max(values) + 0.08))
        panel.set_xticks(range(len(bars)), [b["model"] for b in bars], rotation=90, fontsize=6)
        low, high = found["gain"]
        title = f"{found['graph']}: {low:+.2f} to {high:+.2f} points"
        below = f"over the baselines; best other: {best['model']}"
        panel.set_title(f"{title}\n{below}", fontsize=7.5)
        panel.tick_params(axis="y", labelsize=7.5)
        panel.grid(axis="x", visible=False)
        accuracy_axis(panel)
    hide_rest(axes, len(panels))
    for panel in axes[:, 0]:
        panel.set_ylabel("test accuracy (%), not from 0", fontsize=7.5)
    figure.legend(
        handles=_key(has_ours), loc="outside upper center", ncols=5, fontsize=8, handlelength=1.6
    )
    return figure


def _key(has_ours: bool) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    patches: list[Any] = [
        Patch(facecolor=COLOURS[g], alpha=0.75, hatch=_HATCHES[g], edgecolor="white", label=name)
        for g, name in {
            "baseline": "baseline (paper)",
            "ACM": "ACM (paper)",
            "ACMII": "ACMII (paper)",
        }.items()
    ]
    patches.append(Line2D([], [], color=PURPLE, linestyle="--", label="best other (paper)"))
    if has_ours:
        patches.append(
            Line2D([], [], color=BLACK, marker="D", markerfacecolor="white", markersize=4,
                   linestyle="", label="ours")
        )  # fmt: skip
    return patches


def alternative(data: dict[str, Any]) -> str:
    """Say the best model of each group per dataset."""
    said = []
    for found in data["panels"]:
        words = []
        for group in GROUPS:
            known = [b for b in found["bars"] if b["group"] == group and b["published"]]
            if known:
                best = max(known, key=lambda bar: bar["published"][0])
                words.append(f"{best['model']} {100 * best['published'][0]:.1f}")
        other = found["best_other"]
        words.append(f"best other {other['model']} {100 * other['mean']:.1f}")
        said.append(f"{found['graph']}: {', '.join(words)}")
    return "Published test accuracy in percent, best of each group. " + "; ".join(said) + "."
