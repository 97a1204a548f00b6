"""The diagnosis as one small HTML page: no network, no scripts, light and dark."""

from __future__ import annotations

from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from heterophily.diagnosis.known import known_metrics
from heterophily.diagnosis.probe import CHANNELS, Probe, p_text
from heterophily.diagnosis.text import SYMBOLS, printable

if TYPE_CHECKING:
    from heterophily.diagnosis.diagnose import Diagnosis

_STYLE = """
.hd{--ink:#1b1f24;--dim:#5b6570;--paper:#fff;--line:#d5dae0;--mark:#1f5fbf;--grey:#9aa4af;
 --good:#19713d;--bad:#b3261e;--so:#8a6100;
 font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:52rem;
 margin:0 auto;padding:1rem}
@media(prefers-color-scheme:dark){.hd{--ink:#e6e9ed;--dim:#a3adb8;--paper:#15181c;--line:#3a424b;
 --mark:#7fb0ff;--grey:#7c8794;--good:#6fd093;--bad:#ff8a80;--so:#e8bd5a}}
.hd h1{font-size:1.15rem;margin:.2rem 0}.hd h2{font-size:1rem;margin:1.6rem 0 .4rem}
.hd p{margin:.3rem 0}.hd .dim,.hd text{color:var(--dim);fill:var(--dim)}
.hd .verdict{border-left:.4rem solid;padding:.5rem .9rem;margin:.8rem 0;font-size:1.1rem}
.hd .homophilic,.hd .harmless{border-color:var(--good)}.hd .harmful{border-color:var(--bad)}
.hd .little{border-color:var(--so)}
.hd table{border-collapse:collapse;width:100%}.hd th{text-align:left;font-weight:600}
.hd td,.hd th{padding:.15rem .6rem .15rem 0;border-bottom:1px solid var(--line);
 color:var(--ink);background:none}
.hd td.number{text-align:right;white-space:nowrap}.hd svg{max-width:100%;display:block}
.hd .mark{fill:var(--mark);stroke:var(--mark)}.hd .grey{fill:var(--grey);stroke:var(--grey)}
.hd .axis{stroke:var(--line);fill:none}.hd text{font-size:11px}.hd .you{font-weight:700}
.hd code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
"""
_SIDE, _EDGE = 300, 34


def _text(value: str) -> str:
    """Return text that is safe in HTML: names come from strangers' files."""
    return escape(printable(value))


def page(diagnosis: Diagnosis) -> str:
    """Return a whole HTML document."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        f"<title>Diagnosis of {_text(diagnosis.report.name)}</title>"
        "<style>body{margin:0}@media(prefers-color-scheme:dark){body{background:#15181c}}</style>"
        f"</head><body>{fragment(diagnosis)}</body></html>\n"
    )


def fragment(diagnosis: Diagnosis) -> str:
    """Return the body of the page, with its style: for notebooks."""
    report, verdict = diagnosis.report, diagnosis.verdict
    facts = "; ".join((*report.found, *report.done))
    parts = [
        f"<style>{_STYLE}</style><div class='hd'>",
        f"<h1>{_text(report.headline)}</h1>",
        f"<p class='dim'>{_text(facts)}</p>" if facts else "",
        f"<div class='verdict {verdict.kind}'><strong>{_text(verdict.sentence)}</strong></div>",
        f"<p>Because: {_text('; '.join(verdict.because))}.</p>",
        *(f"<p class='dim'>Note: {_text(note)}</p>" for note in diagnosis.notes),
        "<h2>Where your graph stands</h2>",
        _map(diagnosis),
        "<h2>Metrics</h2>",
        _metrics(diagnosis),
    ]
    if diagnosis.probe is not None:
        parts += ["<h2>Channel probe</h2>", _probe(diagnosis.probe)]
    parts += [
        "<h2>What to run next</h2>",
        f"<p>{_text(diagnosis.next.why)}.</p>",
        f"<p><code>{_text(diagnosis.next.command)}</code></p>",
        "<h2>How this was computed</h2>",
        _origin(diagnosis),
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _label_place(
    left: float, top: float, letters: int, taken: list[tuple[float, float, float]]
) -> tuple[float, float]:
    """Return where a label of a point starts: right, left, below or above, the first free place.

    ``taken`` holds start, end and baseline of the labels drawn so far; the new one is added.
    """
    width = 6.2 * letters
    places = [
        (left + 8, top + 4),
        (left - 8 - width, top + 4),
        (left - width / 2, top + 16),
        (left - width / 2, top - 8),
    ]
    for start, baseline in places:
        is_free = all(
            start > end or start + width < begin or abs(baseline - line) > 10
            for begin, end, line in taken
        )
        if is_free and start >= _EDGE:
            break
    else:
        start, baseline = places[0]
    taken.append((start, start + width, baseline))
    return start, baseline


def _map(diagnosis: Diagnosis) -> str:
    """Draw edge homophily against modified aggregation homophily, known datasets in grey."""
    axes = ("edge_homophily", "modified_aggregation_homophily")
    points = [
        (name, values[axes[0]], values[axes[1]], "grey")
        for name, values in known_metrics().items()
        if name != diagnosis.report.name
    ]
    x, y = (diagnosis.metrics.values.get(axis) for axis in axes)
    if x is None or y is None:
        return "<p class='dim'>Not drawn: edge or aggregation homophily is undefined.</p>"
    points.append((diagnosis.report.name, x, y, "mark"))
    drawn: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for name, x, y, kind in points:
        left, top = _EDGE + x * _SIDE, 10 + (1 - y) * _SIDE
        label = printable(name if len(name) <= 24 else name[:23] + "…")
        at, baseline = _label_place(left, top, len(label), taken)
        drawn.append(
            f"<circle class='{kind}' cx='{left:.1f}' cy='{top:.1f}' r='{3 + 2 * (kind == 'mark')}'>"
            f"<title>{escape(label)}: {x:.3f}, {y:.3f}</title></circle>"
            f"<text x='{at:.1f}' y='{baseline:.1f}'"
            f"{' class=you' if kind == 'mark' else ''}>{escape(label)}</text>"
        )
    ticks = "".join(
        f"<text x='{_EDGE + t * _SIDE - 8}' y='{_SIDE + 26}'>{t:g}</text>"
        f"<text x='8' y='{14 + (1 - t) * _SIDE}'>{t:g}</text>"
        for t in (0, 0.5, 1)
    )
    return (
        f"<svg role='img' aria-label='edge homophily against aggregation homophily' "
        f"viewBox='0 0 {_SIDE + 180} {_SIDE + 50}' width='{_SIDE + 180}'>"
        f"<rect class='axis' x='{_EDGE}' y='10' width='{_SIDE}' height='{_SIDE}'/>{ticks}"
        f"{''.join(drawn)}<text x='{_EDGE}' y='{_SIDE + 44}'>across: edge homophily; "
        "up: modified aggregation homophily</text></svg>"
        "<p class='dim'>Left and high: neighbours differ, yet aggregated labels keep the classes "
        "apart.</p>"
    )


def _strip(value: float | None, others: dict[str, float], spread: float = 0.0) -> str:
    """Draw a value on a line from 0 to 1, with others as grey ticks."""
    ticks = "".join(
        f"<line class='grey' x1='{200 * min(max(x, 0), 1):.1f}' "
        f"x2='{200 * min(max(x, 0), 1):.1f}' y1='3' y2='15'>"
        f"<title>{escape(name)}: {x:.3f}</title></line>"
        for name, x in others.items()
    )
    mark = ""
    if value is not None:
        width = 200 * min(max(value, 0), 1)
        low, high = (200 * min(max(value + sign * spread, 0), 1) for sign in (-1, 1))
        mark = (
            f"<rect class='mark' stroke='none' x='0' y='7' width='{width:.1f}' height='4'/>"
            f"<line class='mark' x1='{low:.1f}' x2='{high:.1f}' y1='9' y2='9'/>"
            f"<circle class='mark' cx='{width:.1f}' cy='9' r='4'/>"
        )
    return (
        "<svg viewBox='-5 0 210 18' width='210' height='18' aria-hidden='true'>"
        f"<line class='axis' x1='0' x2='200' y1='9' y2='9'/>{ticks}{mark}</svg>"
    )


def _metrics(diagnosis: Diagnosis) -> str:
    rows = []
    for name, value in diagnosis.metrics.values.items():
        others = {dataset: values[name] for dataset, values in known_metrics().items()}
        text = "undefined" if value is None else f"{value:.3f}"
        if diagnosis.spreads and name in diagnosis.spreads:
            text += f" ± {diagnosis.spreads[name]:.3f}"
        rows.append(
            f"<tr><td>{escape(name.replace('_', ' '))} <span class='dim'>{SYMBOLS.get(name, '')}"
            f"</span></td><td class='number'>{text}</td><td>{_strip(value, others)}</td></tr>"
        )
    return (
        "<table><tr><th>metric</th><th>value</th><th>from 0 to 1; grey: the paper's ten datasets"
        f"</th></tr>{''.join(rows)}</table>"
    )


def _probe(probe: Probe) -> str:
    rows = []
    for name, score in probe.channels.items():
        test = probe.comparisons.get(f"{name}_against_own")
        against = "" if test is None else f"{100 * test.difference:+.1f}, p {p_text(test.p_value)}"
        rows.append(
            f"<tr><td>{name} <span class='dim'>{CHANNELS[name]}</span></td>"
            f"<td class='number'>{100 * score.mean:.1f} ± {100 * score.std:.1f} %</td>"
            f"<td>{_strip(score.mean, {}, score.std)}</td><td>{escape(against)}</td></tr>"
        )
    notes = "; ".join(probe.notes)
    return (
        "<table><tr><th>channel</th><th>accuracy</th><th></th><th>against own</th></tr>"
        f"{''.join(rows)}</table><p class='dim'>Ridge classifiers on {probe.nodes:,} labelled "
        f"nodes, {probe.folds} folds x {probe.repeats}; ± is the spread over folds, p a corrected "
        f"paired t-test. {_text(notes)}</p>"
    )


def _origin(diagnosis: Diagnosis) -> str:
    try:
        release = version("heterophily")
    except PackageNotFoundError:
        release = "unknown"
    quick = "" if diagnosis.probe is not None else " --quick"
    rows = {
        "rule": diagnosis.verdict.rule,
        "command": f"heterophily diagnose {diagnosis.source}{quick} --seed {diagnosis.seed}",
        "sha256 of the graph": diagnosis.report.content_hash,
        "version": release,
    }
    cells = (
        f"<tr><th>{key}</th><td><code>{_text(text)}</code></td></tr>" for key, text in rows.items()
    )
    return f"<table>{''.join(cells)}</table>"
