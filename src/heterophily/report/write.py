"""The report: one HTML file that tells the whole story of a graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heterophily.data.atomic import write_text
from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.diagnosis.diagnose import Diagnosis
from heterophily.diagnosis.page import (
    diagnose_command,
    evidence_parts,
    origin_part,
    verdict_part,
)
from heterophily.errors import InputError
from heterophily.page.document import document
from heterophily.page.table import TableCell, number, table
from heterophily.page.text import percent, safe
from heterophily.report.figures.compatibility import matrix
from heterophily.report.figures.local_homophily import histogram
from heterophily.report.model_records import model_records, reason
from heterophily.report.sections.compatibility import compatibility_part
from heterophily.report.sections.formulas import formulas_part
from heterophily.report.sections.local_homophily import local_homophily_part
from heterophily.report.sections.maps import maps_part
from heterophily.report.sections.models import accuracy_part, curves_part, weights_part
from heterophily.report.sections.results import results_part
from heterophily.runs.record import versions

if TYPE_CHECKING:
    from heterophily.comparison.compare import Comparison
    from heterophily.comparison.portrait import Portrait


def write_report(
    diagnosis: Diagnosis,
    path: str | os.PathLike[str],
    *,
    graph: GraphLike = None,
    comparison: Comparison | Mapping[str, Any] | None = None,
    portraits: Mapping[str, Sequence[Portrait]] | None = None,
    nodes: int = 2000,
    with_maps: bool = True,
    command: str = "",
) -> None:
    """Write the report of a graph: one HTML file that needs no network.

    Parameters
    ----------
    diagnosis
        What :func:`heterophily.diagnose` found.
    path
        Where to write.
    graph
        The graph itself, for local homophily and compatibility.
    comparison
        Results of :func:`heterophily.compare`, or their plain data (``to_dict``).
    portraits
        Trained models seen from inside (:func:`~heterophily.comparison.portraits.portraits`); needs
        ``graph``.
    nodes, with_maps
        See :func:`~heterophily.report.model_records.model_records`.
    command
        How a command line makes this report again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from heterophily import diagnose, load
    >>> graph, place = load("karate"), Path(tempfile.mkdtemp()) / "karate.html"
    >>> write_report(diagnose(graph, quick=True), place, graph=graph)
    >>> "Class compatibility" in place.read_text("utf-8")
    True
    """
    graph = None if graph is None else as_graph(graph)
    records = None
    if portraits:
        if graph is None:
            raise InputError("portraits need the graph that they are of; pass graph=")
        records = model_records(
            portraits, graph, nodes=nodes, with_maps=with_maps, seed=diagnosis.seed
        )
    html = report_html(
        diagnosis, graph=graph, comparison=comparison, records=records, command=command
    )
    write_text(path, html)


def report_html(
    diagnosis: Diagnosis,
    *,
    graph: Graph | None = None,
    comparison: Comparison | Mapping[str, Any] | None = None,
    records: Mapping[str, Any] | None = None,
    command: str = "",
) -> str:
    """Return the report as a whole HTML document; see :func:`write_report`."""
    if graph is not None and graph.content_hash != diagnosis.report.content_hash:
        raise InputError(f"graph={graph.name!r} is not the graph of this diagnosis")
    parts = [
        f"<header><h1>{safe(diagnosis.report.name)}</h1>"
        "<button type='button' data-switch='theme' hidden>Light / dark</button></header>",
        verdict_part(diagnosis),
        _or_why(_evidence, diagnosis),
    ]
    if graph is not None:
        parts += ["<h2>Local homophily</h2>", _or_why(_local, graph)]
        parts += ["<h2>Class compatibility</h2>", _or_why(_compatibility, graph)]
    if comparison is not None:
        data = comparison if isinstance(comparison, Mapping) else comparison.to_dict()
        parts += ["<h2>Models</h2>", _or_why(results_part, dict(data))]
    if records is not None:
        parts += _inside(records)
    parts += [
        origin_part(diagnosis, command=command or diagnose_command(diagnosis), more=_versions()),
        _runs(records["runs"]) if records is not None else "",
        formulas_part(),
    ]
    name = diagnosis.report.name
    return document(f"Report on {name}", "\n".join(p for p in parts if p), is_interactive=True)


def _evidence(diagnosis: Diagnosis) -> str:
    return "\n".join(evidence_parts(diagnosis))


def _local(graph: Graph) -> str:
    return local_homophily_part(histogram(graph))


def _compatibility(graph: Graph) -> str:
    return compatibility_part(matrix(graph))


def _or_why(part: Callable[..., str], *given: Any) -> str:
    """Return a part, or the sentence that says why it cannot be drawn: it costs only itself."""
    try:
        return part(*given)
    except Exception as error:
        return not_drawn(reason(error))


def not_drawn(why: str) -> str:
    """Return the sentence in place of a part."""
    return f"<p class='dim'>Not drawn: {safe(why)}.</p>"


def _inside(records: Mapping[str, Any]) -> list[str]:
    graph = records["graph"]
    drawn: dict[str, tuple[str, Callable[[Any], str]]] = {
        "accuracy": ("Accuracy by local homophily", lambda found: accuracy_part(found, graph)),
        "weights": ("Channel weights", weights_part),
        "maps": ("Maps of the nodes (t-SNE)", maps_part),
        "curves": ("Training", lambda found: curves_part(found, graph)),
    }
    parts = []
    for name, (title, part) in drawn.items():
        why = records.get("reasons", {}).get(name)
        if why is not None:
            parts += [f"<h2>{title}</h2>", not_drawn(why)]
        elif records[name]:
            parts += [f"<h2>{title}</h2>", _or_why(part, records[name])]
    return parts


def _versions() -> dict[str, str]:
    known = versions()
    return {"versions": ", ".join(f"{k} {v}" for k, v in known.items() if k != "heterophily")}


def _runs(runs: Sequence[Mapping[str, Any]]) -> str:
    rows: list[Sequence[TableCell | str]] = [
        [
            run["model"],
            number(run["split"], str(run["split"])),
            number(run["test_accuracy"], percent(run["test_accuracy"], digits=2)),
            number(run["epochs"], str(run["epochs"])),
            run["engine"],
            TableCell(f"<code>{safe(run['key'][:16])}</code>"),
        ]
        for run in runs
    ]
    header = ["model", "split", "test accuracy, %", "epochs", "engine", "key of the run"]
    return (
        f"<details><summary>The {len(runs)} runs behind the pictures</summary>"
        f"{table(header, rows, is_sorted=True)}</details>"
    )
