"""The diagnosis for a terminal: data, verdict, metrics, probe, next command."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from heterophily.diagnosis.known import ANCHORS, known_metrics
from heterophily.diagnosis.probe import CHANNELS, Probe, p_text
from heterophily.page.text import printable

if TYPE_CHECKING:
    from heterophily.diagnosis.diagnose import Diagnosis

COLOURS = {"homophilic": "green", "harmless": "green", "harmful": "red", "little": "yellow"}
SYMBOLS = {
    "edge_homophily": "H_edge",
    "node_homophily": "H_node",
    "class_homophily": "H_class",
    "adjusted_homophily": "h_adj",
    "label_informativeness": "LI",
    "aggregation_homophily": "H_agg",
    "modified_aggregation_homophily": "H_agg^M",
    "aggregation_similarity": "S_agg(ÂX)",
    "feature_similarity": "S_agg(X)",
    "diversification_distinguishability": "DD",
}
_BAR = 10
_SCALE = "0" + " " * (_BAR - 2) + "1"
_WIDTH = 100


def bar(value: float | None) -> str:
    """Return a bar for a value in [0, 1]; what lies below 0 has none.

    >>> bar(0.5)
    '█████     '
    """
    share = 0.0 if value is None else min(max(value, 0.0), 1.0)
    return ("█" * round(_BAR * share)).ljust(_BAR)


def render(diagnosis: Diagnosis) -> Any:
    """Return the diagnosis as something that rich prints."""
    from rich.console import Group
    from rich.text import Text

    report, verdict = diagnosis.report, diagnosis.verdict
    facts = (*report.found, *report.done)
    parts = [
        Text(printable(report.headline) + (f" ({printable('; '.join(facts))})" if facts else "")),
        Text(),
        Text(verdict.sentence, style=f"bold {COLOURS[verdict.kind]}"),
        Text(f"Because: {'; '.join(verdict.because)}."),
        _metric_table(diagnosis),
    ]
    if diagnosis.probe is not None:
        parts += [_probe_table(diagnosis.probe), Text(_probe_line(diagnosis.probe)), Text()]
    parts += [*(Text(f"Note: {printable(note)}") for note in diagnosis.notes)]
    parts += [
        Text(f"Next: {printable(diagnosis.next.why)}."),
        Text(f"  {printable(diagnosis.next.command)}", style="bold", no_wrap=True),
    ]
    return Group(*parts)


def as_text(diagnosis: Diagnosis) -> str:
    """Return the diagnosis as plain text."""
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=_WIDTH, color_system=None, legacy_windows=False).print(
        render(diagnosis)
    )
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def _table() -> Any:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _metric_table(diagnosis: Diagnosis) -> Any:
    table = _table()
    table.add_column("metric", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(_SCALE, no_wrap=True)
    for dataset in ANCHORS:
        table.add_column(dataset, justify="right", no_wrap=True, style="dim")
    for name, value in diagnosis.metrics.values.items():
        text = "undefined" if value is None else f"{value:.3f}"
        if diagnosis.spreads and name in diagnosis.spreads:
            text += f" ± {diagnosis.spreads[name]:.3f}"
        known = (f"{known_metrics()[dataset][name]:.2f}" for dataset in ANCHORS)
        table.add_row(name.replace("_", " "), SYMBOLS.get(name, ""), text, bar(value), *known)
    return table


def _probe_table(probe: Probe) -> Any:
    table = _table()
    table.add_column("channel", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("accuracy %", justify="right", no_wrap=True)
    table.add_column(_SCALE, no_wrap=True)
    table.add_column("against own")
    for name, score in probe.channels.items():
        test = probe.comparisons.get(f"{name}_against_own")
        against = "" if test is None else f"{100 * test.difference:+.1f}, p {p_text(test.p_value)}"
        text = f"{100 * score.mean:.1f} ± {100 * score.std:.1f}"
        table.add_row(name, CHANNELS[name], text, bar(score.mean), against)
    return table


def _probe_line(probe: Probe) -> str:
    line = (
        f"Ridge classifiers on {probe.nodes:,} labelled nodes, {probe.folds} folds x "
        f"{probe.repeats}; ± is the spread over folds, p a corrected paired t-test."
    )
    return " ".join([line, *(f"{note[:1].upper()}{note[1:]}." for note in probe.notes)])
