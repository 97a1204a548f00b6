"""The diagnosis for a terminal: data, verdict, metrics, probe, next command."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from heterophily.data.wording import capital
from heterophily.diagnosis.edge_types import HEADINGS
from heterophily.diagnosis.known import ANCHORS, known_metrics
from heterophily.diagnosis.probe_value import FROM_GRAPH, SOURCES, Probe, beside_own
from heterophily.metrics.catalog import METRICS
from heterophily.page.text import printable

if TYPE_CHECKING:
    from heterophily.diagnosis.diagnose import Diagnosis

COLOURS = {
    "homophilic": "green",
    "harmless": "green",
    "harmful": "red",
    "little": "yellow",
    "too-few": "magenta",
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
    parts = [
        Text(printable(report.headline)),
        *(Text(f"- {printable(fact)}") for fact in (*report.found, *report.done)),
        *(Text(f"- warning: {printable(told)}", style="bold") for told in report.warnings),
        Text(),
        Text(verdict.sentence, style=f"bold {COLOURS[verdict.kind]}"),
        *(Text(f"- {text}") for text in verdict.because),
        Text(),
    ]
    if diagnosis.probe is not None:
        parts += [_probe_table(diagnosis.probe), Text(probe_line(diagnosis.probe))]
    parts.append(_metric_table(diagnosis))
    if diagnosis.types:
        parts.append(_type_table(diagnosis))
    parts += [*(Text(f"Note: {printable(note)}") for note in diagnosis.notes)]
    parts += [
        Text(f"Next: {printable(diagnosis.next.why)}."),
        Text(
            f"  {printable(diagnosis.next.command)}",
            style="bold",
            no_wrap=True,
            overflow="ignore",  # a command is copied: it is one line, however long
        ),
    ]
    return Group(*parts)


def as_text(diagnosis: Diagnosis) -> str:
    """Return the diagnosis as plain text."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=_WIDTH, color_system=None, legacy_windows=False)
    console.print(render(diagnosis), crop=False)
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
        metric = METRICS[name]
        if not metric.is_brief:
            continue  # the page and --json have them all
        text = "undefined" if value is None else f"{value:.3f}"
        if diagnosis.spreads and name in diagnosis.spreads:
            text += f" ± {diagnosis.spreads[name]:.3f}"
        known = (f"{known_metrics()[dataset][name]:.2f}" for dataset in ANCHORS)
        table.add_row(metric.title, metric.symbol, text, bar(value), *known)
    return table


def _type_table(diagnosis: Diagnosis) -> Any:
    table = _table()
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if place == 0 else "right")
    for signal in diagnosis.types:
        name, *values = signal.row()
        table.add_row(printable(name), *values)
    return table


def source_rows(probe: Probe) -> list[tuple[str, str, str, str]]:
    """Return a row for each source: name, score alone, score beside own features, what it adds.

    A score is that of the better learner; trees are marked with a star.
    """

    def shown(setting: str) -> str:
        found = {
            learner: scores[setting]
            for learner, scores in probe.scores.items()
            if setting in scores
        }
        if not found:
            return ""
        best = max(found, key=lambda learner: found[learner])
        return f"{100 * found[best]:.1f}{'*' if best == 'trees' else ''}"

    names = [name for name in SOURCES if name not in FROM_GRAPH] if probe.has_features else []
    rows = [(SOURCES[name], shown(name), "", "") for name in names]
    if probe.average_loss is not None:
        loss = probe.average_loss
        rows[-1] = (*rows[-1][:2], "", limits(loss.value, loss.low, loss.high) + " alone")
    for name, gain in probe.gains.items():
        told = limits(gain.value, gain.low, gain.high)
        together = shown(beside_own(name))
        if probe.has_features:
            rows.append((SOURCES[name], shown(name), together, told))
        else:  # there is no own: the source stands alone
            rows.append((SOURCES[name], together, "", told))
    return rows


def limits(value: float, low: float, high: float) -> str:
    """Write a difference in points and its limits.

    >>> limits(0.1, 0.05, 0.151)
    '+10.0 (+5.0 to +15.1)'
    """
    return f"{100 * value:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def headings(probe: Probe) -> tuple[str, str, str, str]:
    """Return the headings of the table of sources."""
    base = "own features" if probe.has_features else "the largest class"
    return (
        "source of information",
        "alone",
        "with own features" if probe.has_features else "",
        f"gain over {base} (95 % interval)",
    )


def score_title(probe: Probe) -> str:
    """Return the name of the score, as the tables show it."""
    return {"roc-auc": "ROC AUC x 100"}.get(probe.score, f"{probe.score.replace('-', ' ')} %")


def _probe_table(probe: Probe) -> Any:
    table = _table()
    table.title = f"What each source of information tells about the labels: {score_title(probe)}"
    table.title_justify = "left"
    table.title_style = ""
    for place, heading in enumerate(headings(probe)):
        table.add_column(heading, justify="left" if place in (0, 3) else "right", no_wrap=True)
    for row in source_rows(probe):
        table.add_row(*row)
    return table


def probe_line(probe: Probe) -> str:
    """Say how the table was made."""
    own = f"{100 * probe.own_score:.1f} ({probe.own})"
    drawn = f", drawn {probe.repeats} times" if probe.repeats > 1 else ""
    line = (
        f"Best without the graph: {own}. Every score is of nodes that the classifier had not seen "
        f"({probe.folds} folds{drawn}, {probe.nodes:,} labelled nodes). The classifiers are linear"
    )
    if probe.tree_nodes:
        few = f" (on {probe.tree_nodes:,} nodes)" if probe.tree_nodes != probe.nodes else ""
        line += f"; a star marks gradient-boosted trees{few}, where they are better"
    line += "."
    return " ".join([line, *(f"{capital(note)}." for note in probe.notes)])
