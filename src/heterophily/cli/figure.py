"""``heterophily paper figure``: the figures of the synthetic experiments, trained and drawn."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.cli.panels import show_help
from heterophily.cli.spread import RunOptions, spread
from heterophily.cli.train_options import given
from heterophily.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from heterophily.studies.synthetic import SyntheticStudy
    from heterophily.studies.synthetic_curves import Point

app = typer.Typer(
    invoke_without_command=True,
    callback=show_help,
    help="Draw the figures of the paper. You may stop; the same command goes on.",
)

QUICK: dict[str, Any] = {"search": "small", "max_epochs": 500}
QUICK_LEVELS, QUICK_GRAPHS = 7, 3
DIGITS_NODES = 170  # the embedded digits have 174 or more images of each; no image twice

BaseOption = Annotated[
    str | None,
    typer.Option(help="Where features come from: a dataset or digits.", show_default="cora"),
]
Bases = Annotated[
    str | None, typer.Option(help="Bases, with commas between.", show_default="six datasets")
]
GeneratorName = Annotated[
    str, typer.Option("--generator", help="edge-homophily (the program) or degree-then-edges.")
]
Out = Annotated[Path, typer.Option(help="Folder for pictures and their data.")]


@dataclass(frozen=True, slots=True)
class SyntheticOptions:
    """Which synthetic graphs, and how models are trained on them."""

    levels: Annotated[
        int | None, typer.Option(help="Number of homophily levels.", show_default="all")
    ] = None
    graphs: Annotated[int | None, typer.Option(help="Graphs of each level.", show_default="10")] = (
        None
    )
    quick: Annotated[
        bool, typer.Option("--quick", help="7 levels, 3 graphs, small search, digits: minutes.")
    ] = False
    search: Annotated[
        str | None, typer.Option(help="paper (its search range) or small (up to 4 settings).")
    ] = None
    nodes: Annotated[
        int | None, typer.Option(help="Nodes per class.", show_default="400; digits 170")
    ] = None
    max_epochs: Annotated[
        int | None, typer.Option(help="Limit on epochs.", show_default="5000")
    ] = None

    def study(
        self, figure: str, base: str | None, runs: RunOptions, **fields: Any
    ) -> SyntheticStudy:
        """Return the declared study of a figure with what the command line changes."""
        from heterophily.studies import synthetic
        from heterophily.studies.synthetic_studies import declared

        plain = declared(figure)[0]
        name = base or ("digits" if self.quick else plain.base)
        own = given(search=self.search, max_epochs=self.max_epochs)
        study = replace(
            plain,
            base=name,
            nodes_per_class=self.nodes
            or (DIGITS_NODES if name == "digits" else plain.nodes_per_class),
            seed=runs.seed,
            engine=runs.engine,
            **{**(QUICK if self.quick else {}), **fields, **own},
        )
        return synthetic.quick(
            study,
            levels=self.levels or (QUICK_LEVELS if self.quick else None),
            graphs=self.graphs or (QUICK_GRAPHS if self.quick else None),
        )


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Where runs, pictures and datasets are."""

    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Where finished trainings are kept.",
            show_default="HETEROPHILY_STORE, else OUT/runs.sqlite",
        ),
    ] = None
    out: Out = Path("figures")
    data_folder: sources.DataFolder = None
    offline: sources.Offline = False

    def stem(self, figure: str, study: SyntheticStudy) -> Path:
        """Return the common name of pictures and records; other graphs have another name."""
        _make_folder(self.out)
        text = "-as-written" if study.generator == "degree-then-edges" else ""
        return self.out / f"{figure}-{study.base}{text}"


@app.command("synthetic-metrics")
@spread
def synthetic_metrics(
    *,
    base: BaseOption = None,
    generator: GeneratorName = "edge-homophily",
    graphs: SyntheticOptions,
    runs: RunOptions,
    place: PlaceOptions,
    json: sources.Json = False,
) -> None:
    """Train SGC-1 and GCN on synthetic graphs; draw accuracy against four homophily metrics."""
    from heterophily.report.style import SYMBOLS
    from heterophily.report.synthetic_figures import metrics_figure, order_table

    study = graphs.study("synthetic-metrics", base, runs, generator=generator)
    stem = place.stem("synthetic-metrics", study)
    found = _curves(study, stem, runs, place)
    written = _save(metrics_figure(found, base=study.base), stem)
    table = order_table(found)
    if json:
        from dataclasses import asdict

        orders = {m: {k: asdict(v) for k, v in row.items()} for m, row in table.items()}
        _print_json({"order": orders, **_plain(study, found)}, written)
        return
    width = max(map(len, SYMBOLS))
    for metric, row in table.items():
        for model, order in row.items():
            print(f"{metric:<{width}}  {model:<6}  {order}")
    _print_paths(written)


@app.command("synthetic-models")
@spread
def synthetic_models(
    *,
    bases: Bases = None,
    generator: GeneratorName = "edge-homophily",
    against: Annotated[str, typer.Option(help="Metric of the x axis.")] = "edge_homophily",
    graphs: SyntheticOptions,
    runs: RunOptions,
    place: PlaceOptions,
    json: sources.Json = False,
) -> None:
    """Compare MLP, SGC or GCN, and ACM models on the synthetic graphs of several bases."""
    from heterophily.errors import lookup
    from heterophily.report.style import SYMBOLS
    from heterophily.report.synthetic_figures import models_figure
    from heterophily.studies.synthetic import DEEP_MODELS, LINEAR_MODELS
    from heterophily.studies.synthetic_studies import declared

    lookup(SYMBOLS, "metric", against)
    names = [found.base for found in declared("synthetic-models")]
    if bases is not None or graphs.quick:
        names = (bases or "digits").split(",")
    studies = [
        graphs.study("synthetic-models", name.strip(), runs, generator=generator) for name in names
    ]
    groups = {}
    for study in studies:
        found = _curves(study, place.stem("synthetic-models", study), runs, place)
        families = (LINEAR_MODELS, DEEP_MODELS)
        groups[study.base] = [{model: found[model] for model in family} for family in families]
    label = "paper" if bases is None and not graphs.quick else "-".join(groups)
    written = _save(models_figure(groups, against=against), place.out / f"synthetic-models-{label}")
    if json:
        merged = {base: {**rows[0], **rows[1]} for base, rows in groups.items()}
        results = [_plain(study, merged[study.base]) for study in studies]
        _print_json({"studies": results}, written)
        return
    for base, rows in groups.items():
        print(base)
        for family in rows:
            for model, points in family.items():
                shown = "  ".join(f"{100 * point.accuracy:5.1f}" for point in points)
                print(f"  {model:<10}{shown}")
    _print_paths(written)


@app.command("regular")
@spread
def regular(
    *,
    base: BaseOption = None,
    graphs: SyntheticOptions,
    runs: RunOptions,
    place: PlaceOptions,
    json: sources.Json = False,
) -> None:
    """Train SGC-1 and GCN on regular graphs; draw accuracy with g(h) of Proposition 1."""
    from heterophily.data.synthetic.proposition import worst_homophily
    from heterophily.report.synthetic_figures import regular_figure

    study = graphs.study("regular", base, runs)
    stem = place.stem("regular", study)
    found = _curves(study, stem, runs, place)
    figure = regular_figure(
        found, base=study.base, classes=study.classes, intra_degree=study.intra_degree
    )
    written = _save(figure, stem)
    worst = worst_homophily(intra_degree=study.intra_degree, classes=study.classes)
    if json:
        _print_json({"worst_homophily": worst, **_plain(study, found)}, written)
        return
    for model, points in found.items():
        lowest = min(points, key=lambda point: point.accuracy)
        print(f"{model:<6}  lowest accuracy {lowest.accuracy:.4f} at level {lowest.level:g}")
    print(f"g(h) of Proposition 1 is 0 at {worst:.4f}")
    _print_paths(written)


@app.command("toy")
def toy(out: Out = Path("figures")) -> None:
    """Draw S(A, X) and S(I - A, X) of the toy examples as heat maps. No training."""
    from heterophily.data.synthetic.toy import TOY_GRAPHS
    from heterophily.report.toy_figures import heat_maps

    _make_folder(out)
    for name, make in TOY_GRAPHS.items():
        _print_paths(_save(heat_maps(make()), out / f"toy-{name}"))


def _make_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: it is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)


def _curves(
    study: SyntheticStudy, stem: Path, runs: RunOptions, place: PlaceOptions
) -> dict[str, list[Point]]:
    """Train what is missing in the store, write the data of the figure, and add it up."""
    import json

    from heterophily.data.atomic import write_text
    from heterophily.runs.record import versions
    from heterophily.runs.stores.url import ENVIRONMENT, open_store
    from heterophily.studies.synthetic_curves import curves
    from heterophily.studies.synthetic_run import run_study
    from heterophily.training.progress import progress_bar

    kept_in = place.store or os.environ.get(ENVIRONMENT) or place.out / "runs.sqlite"
    with open_store(kept_in) as store, progress_bar(f"syn-{study.base}") as progress:
        rows = run_study(
            study,
            store,
            data_folder=place.data_folder,
            offline=place.offline,
            executor=runs.executor_here(),
            progress=progress,
        )
    data = {"study": study.describe(), "versions": versions(), "units": rows}
    finite = json.loads(json.dumps(data), parse_constant=lambda _: None)
    write_text(
        stem.with_name(stem.name + ".json"), json.dumps(finite, separators=(",", ":")) + "\n"
    )
    return curves(rows)


def _save(figure: Figure, stem: Path) -> list[Path]:
    from heterophily.report.style import save, style

    with style():
        return save(figure, stem)


def _print_paths(paths: list[Path]) -> None:
    for path in paths:
        print(f"wrote {path}")


def _plain(study: SyntheticStudy, curves: dict[str, list[Point]]) -> dict[str, Any]:
    from dataclasses import asdict

    points = {model: [asdict(point) for point in found] for model, found in curves.items()}
    return {"study": study.describe(), "curves": points}


def _print_json(data: dict[str, Any], written: list[Path]) -> None:
    import json

    print(json.dumps({**data, "written": [str(path) for path in written]}))
