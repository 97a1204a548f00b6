"""The diagnosis as HTML: parts that the diagnosis page and the report are made of."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from heterophily.data.wording import capital
from heterophily.diagnosis.edge_types import HEADINGS
from heterophily.diagnosis.known import known_metrics
from heterophily.diagnosis.probe_value import SOURCES, Probe
from heterophily.diagnosis.text import headings, probe_line, score_title, source_rows
from heterophily.diagnosis.words import interval
from heterophily.metrics.catalog import METRICS
from heterophily.page.document import document
from heterophily.page.document import fragment as with_style
from heterophily.page.svg import Chart, PointLabels, figure, strip
from heterophily.page.table import TableCell, number, table
from heterophily.page.text import printable, safe

if TYPE_CHECKING:
    from heterophily.diagnosis.diagnose import Diagnosis

AXES = ("edge_homophily", "modified_aggregation_homophily")


def page(diagnosis: Diagnosis) -> str:
    """Return a whole HTML document, without a script."""
    return document(f"Diagnosis of {diagnosis.report.name}", _body(diagnosis))


def fragment(diagnosis: Diagnosis) -> str:
    """Return the body of the page, with its style: for notebooks."""
    return with_style(_body(diagnosis))


def _body(diagnosis: Diagnosis) -> str:
    return "\n".join(
        [
            f"<h1>{safe(diagnosis.report.name)}</h1>",
            verdict_part(diagnosis),
            *evidence_parts(diagnosis),
            origin_part(diagnosis, command=diagnose_command(diagnosis)),
        ]
    )


def evidence_parts(diagnosis: Diagnosis) -> list[str]:
    """Return what the verdict rests on: the probe, the map, the metrics."""
    parts = []
    if diagnosis.probe is not None:
        parts += ["<h2>What each source of information tells</h2>", probe_part(diagnosis.probe)]
    return [
        *parts,
        "<h2>Where your graph stands</h2>",
        stand_part(diagnosis),
        "<h2>Metrics</h2>",
        metrics_part(diagnosis),
        *(["<h2>Types of edges</h2>", types_part(diagnosis)] if diagnosis.types else []),
    ]


def verdict_part(diagnosis: Diagnosis) -> str:
    """Return verdict, reasons, alerts and the next command: what is read first."""
    report, verdict = diagnosis.report, diagnosis.verdict
    alerts = "".join(
        f"<li>{safe(text)}</li>"
        for text in (
            *sentences([f"warning: {told}" for told in report.warnings]),
            *diagnosis.notes,
            *sentences(report.done),
        )
    )
    return "\n".join(
        [
            f"<p class='dim'>{safe('; '.join((report.headline, *report.found)))}</p>",
            f"<div class='verdict {verdict.kind}'><strong>{safe(verdict.sentence)}</strong></div>",
            "<p>Because:</p>",
            f"<ul>{''.join(f'<li>{safe(text)}</li>' for text in verdict.because)}</ul>",
            f"<ul class='alerts'>{alerts}</ul>" if alerts else "",
            f"<p>Next: {safe(diagnosis.next.why)}.</p>",
            f"<p class='command'><code>{safe(diagnosis.next.command)}</code></p>",
        ]
    )


def sentences(texts: Sequence[str]) -> list[str]:
    """Return each text with a capital letter and a full stop."""
    return [f"{capital(text)}." for text in texts]


def stand_part(diagnosis: Diagnosis) -> str:
    """Draw edge homophily against modified aggregation homophily, known datasets in grey."""
    x, y = (diagnosis.metrics.values.get(axis) for axis in AXES)
    if x is None or y is None:
        return "<p class='dim'>Not drawn: edge or aggregation homophily is undefined.</p>"
    chart = Chart(
        x=(0, 1), y=(0, 1), across="edge homophily", up="modified aggregation homophily",
        width=560, height=390,
    )  # fmt: skip
    labels = PointLabels(chart.left, chart.right)
    points = [
        *((diagnosis.report.name, x, y, "mark"),),
        *(
            (name, values[AXES[0]], values[AXES[1]], "grey")
            for name, values in known_metrics().items()
            if name != diagnosis.report.name
        ),
    ]
    for name, across, up, kind in points:
        shown = printable(name if len(name) <= 24 else name[:23] + "…")
        start, baseline = labels.place(chart.x(across), chart.y(up), len(shown))
        is_yours = kind == "mark"
        title = f"{shown}: edge homophily {across:.3f}, modified aggregation homophily {up:.3f}"
        chart.dot(across, up, title, f"fill {kind}", 6 if is_yours else 3.5)
        chart.text(start, baseline, shown, kind="you" if is_yours else "")
    return figure(
        chart.html(
            f"{diagnosis.report.name} has edge homophily {x:.2f} and modified aggregation "
            f"homophily {y:.2f}, beside ten known datasets"
        ),
        "Grey: the paper's ten datasets. Top left: neighbours differ, yet the classes "
        "stay apart after averaging over neighbours.",
    )


def metrics_part(diagnosis: Diagnosis) -> str:
    """Return the metrics as a table, each on a line from 0 to 1 among the known datasets."""
    rows: list[Sequence[TableCell | str]] = []
    for name, value in diagnosis.metrics.values.items():
        others = {dataset: values[name] for dataset, values in known_metrics().items()}
        text = "undefined" if value is None else f"{value:.3f}"
        if diagnosis.spreads and name in diagnosis.spreads:
            text += f" ± {diagnosis.spreads[name]:.3f}"
        metric = METRICS[name]
        symbol = f"<span class='dim'>{safe(metric.symbol)}</span>"
        rows.append(
            [
                TableCell(f"{safe(metric.title)} {symbol}"),
                number(value, text),
                TableCell(strip(value, others)),
            ]
        )
    return table(["metric", "value", "from 0 to 1; grey: the paper's ten datasets"], rows)


def types_part(diagnosis: Diagnosis) -> str:
    """Return each type of edges by itself, as a table."""
    rows: list[Sequence[TableCell | str]] = [list(signal.row()) for signal in diagnosis.types]
    return table(list(HEADINGS), rows)


def probe_part(probe: Probe) -> str:
    """Return what each source of information knows, and a picture of what it adds."""
    rows: list[Sequence[TableCell | str]] = [list(row) for row in source_rows(probe)]
    heading = f"<p>Held-out {safe(score_title(probe))} of classifiers on each source:</p>"
    return (
        gains_chart(probe)
        + heading
        + table(list(headings(probe)), rows)
        + f"<p class='dim small'>{safe(probe_line(probe))}</p>"
    )


def gains_chart(probe: Probe) -> str:
    """Draw what each source adds to own features, with its interval; zero is a line."""
    found = {SOURCES[name]: gain for name, gain in probe.gains.items()}
    if probe.average_loss is not None:
        found = {f"{SOURCES['average']} alone": probe.average_loss, **found}
    low = min(0.0, *(100 * gain.low for gain in found.values()))
    high = max(0.0, *(100 * gain.high for gain in found.values()))
    room = 0.06 * (high - low) or 1.0
    base = "own features" if probe.has_features else "guessing the largest class"
    chart = Chart(
        x=(low - room, high + room), y=(0, len(found)), across=f"points against {base}", up="",
        width=860, height=70 + 34 * len(found), left=190, y_text=lambda _: "",
    )  # fmt: skip
    chart.line(chart.x(0), chart.top, chart.x(0), chart.bottom, "axis")
    for place, (name, gain) in enumerate(found.items()):
        height = len(found) - place - 0.5
        kind = "good" if gain.is_better else "bad" if gain.is_worse else "grey"
        title = f"{name}: {interval(gain)}"
        across = chart.x(100 * gain.low), chart.y(height), chart.x(100 * gain.high), chart.y(height)
        chart.line(*across, f"reach {kind}")
        chart.dot(100 * gain.value, height, title, f"fill {kind}", 5)
        chart.text(chart.left - 8, chart.y(height) + 4, name, "end")
    return figure(
        chart.html(f"What each source adds against {base}, with intervals of 95 %"),
        f"Dots: how much better than {base}; lines: 95 % intervals. Grey: not clearly different "
        "from zero, or below one point.",
    )


def diagnose_command(diagnosis: Diagnosis) -> str:
    """Return the command that gives this diagnosis again; without a file, a call in Python."""
    if not diagnosis.source:
        quick = ", quick=True" if diagnosis.quick else ""
        return f"heterophily.diagnose(graph, seed={diagnosis.seed}{quick})"
    quick = " --quick" if diagnosis.quick else ""
    return f"heterophily diagnose {diagnosis.source}{quick} --seed {diagnosis.seed}"


def origin_part(diagnosis: Diagnosis, *, command: str, more: dict[str, str] | None = None) -> str:
    """Say how everything was computed: rule, command, hash, versions."""
    try:
        release = version("heterophily")
    except PackageNotFoundError:
        release = "unknown"
    rows = {
        "rule of the verdict": diagnosis.verdict.rule,
        "command": command,
        "seed": str(diagnosis.seed),
        "sha256 of the graph": diagnosis.report.content_hash,
        "heterophily": release,
        **(more or {}),
    }
    cells = "".join(
        f"<tr><th scope='row'>{safe(key)}</th><td><code>{safe(text)}</code></td></tr>"
        for key, text in rows.items()
    )
    return f"<h2>How this was computed</h2><div class='wide'><table>{cells}</table></div>"
