"""``heterophily generate``: write a synthetic graph with a given homophily."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.errors import InputError, lookup

if TYPE_CHECKING:
    import numpy as np

    from heterophily.data.graph import Graph
    from heterophily.data.synthetic.features import Base

KINDS = ("edge-homophily", "degree-then-edges", "regular", "class-homophily")
MOST_DEGREE = 1_000_000


def generate(
    out: Annotated[
        Path, typer.Argument(help="Write here: .npz, .graphml, .gexf, or a folder for two tables.")
    ],
    homophily: Annotated[
        str,
        typer.Option(help="Edge homophily 0..1; for class-homophily also one per class: 0.8,0.2."),
    ] = "0.2",
    kind: Annotated[str, typer.Option(help=f"Generator: {', '.join(KINDS)}.")] = KINDS[0],
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 5,
    nodes: Annotated[
        str, typer.Option(help="Nodes per class: one number, or one per class: 100,50,20.")
    ] = "400",
    degree: Annotated[float, typer.Option(help="Mean degree (out-degree, if regular).")] = 10.0,
    base: Annotated[
        str,
        typer.Option(
            help="Features: gaussian, none, digits, or a dataset or graph file to draw them from."
        ),
    ] = "gaussian",
    features: Annotated[int, typer.Option(help="Number of Gaussian features.")] = 16,
    separation: Annotated[
        float, typer.Option(help="Distance of Gaussian class means from the origin.")
    ] = 2.0,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Any size: write edges.parquet and nodes.parquet into a folder, block by block; "
            "edges are drawn one by one, so the homophily is met on average.",
        ),
    ] = False,
    degrees: Annotated[
        str, typer.Option(help="With --stream: degrees, uniform or power-law.")
    ] = "uniform",
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Generate a graph with a given homophily and write it.

    The features of a node come from base rows of its class (class c of the graph is class c of
    the base, and the first again when the base has fewer).
    """
    import numpy as np

    from heterophily.data.export import check_target, write_graph

    if not 0 <= degree <= MOST_DEGREE:
        raise InputError(f"--degree {degree}: a number from 0 to {MOST_DEGREE:,}")
    if stream:
        _stream(out, homophily, classes, nodes, degree, base, features, degrees, seed, json)
        return
    check_target(out)
    lookup(dict.fromkeys(KINDS), "kind of graph", kind)
    if classes < 1:
        raise InputError(f"--classes {classes}: use at least one")
    rng = np.random.default_rng(seed)
    sizes = _sizes(nodes, classes)
    rows = _base(base, sizes, features, separation, rng, data_folder, offline)
    graph = _make(kind, _numbers("--homophily", homophily), degree, rows, sizes, rng)
    graph = graph.replace(name=out.stem)
    written = write_graph(graph, out)
    _print(graph, written, json)


def _stream(
    out: Path,
    homophily: str,
    classes: int,
    nodes: str,
    degree: float,
    base: str,
    features: int,
    degrees: Any,
    seed: int,
    as_json: bool,
) -> None:
    """Write two Parquet tables without holding the graph."""
    import sys

    from heterophily.cli.disk import ProgressLine
    from heterophily.data.synthetic.stream import StreamedGraph

    sizes = _sizes(nodes, classes)
    if len(set(sizes)) > 1 or base not in ("gaussian", "none"):
        raise InputError("--stream: classes of equal size, and --base gaussian or none")
    plan = StreamedGraph(
        num_nodes=sum(sizes),
        num_edges=round(sum(sizes) * degree / 2),
        homophily=_numbers("--homophily", homophily)[0],
        classes=classes,
        degrees=degrees,
        features=features if base == "gaussian" else 0,
        seed=seed,
    )
    if out.suffix or (out.exists() and not out.is_dir()):
        raise InputError(f"{out}: --stream writes two tables into a folder; name one")
    out.mkdir(exist_ok=True)
    files = [out / "edges.parquet", out / "nodes.parquet"]
    told = plan.write(
        *files, tell=ProgressLine() if sys.stderr.isatty() else lambda stage, done, total: None
    )
    if as_json:
        import json

        facts = {"nodes": plan.num_nodes, "rows": told.rows, "matching_rows": told.matching}
        print(json.dumps({**facts, "written": [str(file) for file in files]}))
        return
    print(f"{plan.num_nodes:,} nodes, {told.rows:,} rows of edges, 1 % of them repeated")
    print(f"  edge homophily of the rows  {told.edge_homophily:.6f}")
    for file in files:
        print(f"  wrote  {file}")


def _base(
    name: str,
    sizes: list[int],
    features: int,
    separation: float,
    rng: np.random.Generator,
    data_folder: Path | None,
    offline: bool,
) -> Base:
    import numpy as np

    from heterophily.data.synthetic.features import gaussian_base, open_base, with_classes

    if name == "none":
        return None, np.repeat(np.arange(len(sizes)), sizes)
    if name == "gaussian":
        return gaussian_base(sizes, rng=rng, num_features=features, separation=separation)
    return with_classes(open_base(name, data_folder=data_folder, offline=offline), len(sizes))


def _make(
    kind: str,
    homophily: list[float],
    degree: float,
    base: Base,
    sizes: list[int],
    rng: np.random.Generator,
) -> Graph:
    from heterophily.data.synthetic.class_homophily import class_homophily_graph
    from heterophily.data.synthetic.degree_then_edges import degree_then_edges_graph
    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
    from heterophily.data.synthetic.regular import regular_graph

    shared: dict[str, Any] = {
        "features": base[0],
        "labels": base[1],
        "nodes_per_class": sizes,
        "rng": rng,
    }
    if kind == "class-homophily":
        given = homophily[0] if len(homophily) == 1 else homophily
        return class_homophily_graph(class_homophily=given, mean_degree=degree, **shared)
    if len(homophily) != 1:
        raise InputError("--homophily: one number, unless --kind class-homophily")
    target = homophily[0]
    if kind == "edge-homophily":
        edges = round(sum(sizes) * degree / 2)
        return edge_homophily_graph(homophily=target, edges=edges, **shared)
    if kind == "degree-then-edges":
        return degree_then_edges_graph(homophily=target, mean_degree=degree / 2, **shared)
    if degree != round(degree):
        raise InputError(f"--degree {degree}: in a regular graph it is a whole number")
    return regular_graph(homophily=target, degree=round(degree), **shared)


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} {text!r}: write numbers with commas between") from None


def _sizes(text: str, classes: int) -> list[int]:
    numbers = _numbers("--nodes", text)
    if not all(1 <= number < 1e15 and number == int(number) for number in numbers):
        raise InputError(f"--nodes {text!r}: numbers of nodes are whole and positive")
    sizes = [int(number) for number in numbers] * (classes if len(numbers) == 1 else 1)
    if len(sizes) != classes:
        raise InputError(f"--nodes {text!r}: give one number, or {classes}: one for each class")
    return sizes


def _print(graph: Graph, written: list[Path], as_json: bool) -> None:
    import numpy as np

    from heterophily.metrics.catalog import METRICS, compute_metrics

    named = [name for name, metric in METRICS.items() if metric.needs == "labels"]
    measured = compute_metrics(graph, names=named).values
    if as_json:
        import json

        data = {**graph.report.to_dict(), "metrics": measured, "written": [str(p) for p in written]}
        print(json.dumps(data))
        return
    print(graph.report)
    sizes = np.bincount(graph.labels, minlength=graph.num_classes)
    print(f"  nodes per class  {', '.join(f'{size:,}' for size in sizes)}")
    for name in ("edge_homophily", "aggregation_homophily"):
        value = measured[name]
        print(f"  {name.replace('_', ' ')}  {'undefined' if value is None else f'{value:.4f}'}")
    for path in written:
        print(f"  wrote  {path}")
