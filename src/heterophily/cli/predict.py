"""``heterophily predict``: a model folder and a graph in, a table of predictions out."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels, sources
from heterophily.cli.batches import is_on_disk, open_any
from heterophily.cli.spread import spread
from heterophily.cli.trained import open_for
from heterophily.data.source import GraphSource
from heterophily.errors import InputError, lookup

if TYPE_CHECKING:
    from heterophily.prediction.model import TrainedModel
    from heterophily.prediction.predict import Predictions

Folder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model folder that heterophily train --out wrote.")
]
_SHOWN = 5  # rows that are printed without --out
_NOTES = 8  # remarks on the new table that are printed
ORDERS = ("rank", "nodes")


@spread
def predict(
    model: Folder,
    graph: GraphSource,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the table here (.csv).", rich_help_panel=panels.OUTPUT),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Order of the rows: rank (most probable first, two classes) or nodes (as read).",
            show_default="rank for two classes, else nodes",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = None,
    json: sources.Json = False,
) -> None:
    """Predict label, class probabilities and channel weights of every node.

    The tables are read as in training, and columns that look different are named. With two
    classes the rows are ranked: the nodes most probably of the rarer class come first. New nodes
    are accepted, except by models that have a weight for each training node. Labels are not used.
    """
    from heterophily.prediction.folder import load_model

    loaded = load_model(model)
    if is_on_disk(graph):
        from heterophily.prediction.predict_disk import can_read_in_parts

        if can_read_in_parts(loaded):
            _predict_disk(loaded, open_any(graph), out, as_json=json)
            return
    if out is not None and out.suffix != ".csv":
        raise InputError(f"--out {out}: the file ends in .csv")
    from heterophily.prediction.predict import predict as run

    wanted = check_order(order, loaded)
    opened = open_for(loaded, graph, with_labels=False)
    found = run(loaded, opened)
    if wanted is not None and order != "nodes":
        found = sorted_by(found, wanted)
    header = found.header if wanted is None else ["rank", *found.header]

    def rows() -> Iterator[list[str]]:
        return found.rows() if wanted is None else ranked_rows(found, wanted)

    if out is not None:
        _write(out, header, rows())
    if json:
        import json as json_module

        told = [dict(zip(header, row, strict=True)) for row in rows()]
        data = {"model": loaded.name, "ranked_by": None, "rows": told, "out": _text(out)}
        if wanted is not None:
            data["ranked_by"] = found.class_names[wanted]
        print(json_module.dumps({**data, "remarks": list(opened.remarks)}))
        return
    import numpy as np

    counts = np.bincount(found.classes, minlength=len(found.class_names))
    print(_predicted(loaded.name, opened, dict(zip(found.class_names, counts, strict=True))))
    for note in opened.remarks[:_NOTES]:
        print(f"note: {note}", file=sys.stderr)
    if len(opened.remarks) > _NOTES:
        more = len(opened.remarks) - _NOTES
        print(f"note: {more} more remarks on the tables; --json prints them", file=sys.stderr)
    if wanted is not None and order != "nodes":
        print(f"ranked by the probability of {found.class_names[wanted]}, highest first")
    if wanted is not None and (line := threshold_line(loaded, found)):
        print(line)
    if out is not None:
        print(f"wrote {out}")
        return
    from heterophily.report.tables import plain

    print(plain(header, list(itertools.islice(rows(), _SHOWN))))
    print(
        f"the first {min(_SHOWN, opened.num_nodes)} rows; --out predictions.csv writes all of them"
    )


def _predict_disk(model: TrainedModel, graph: Any, out: Path | None, *, as_json: bool) -> None:
    """Predict on a graph on disk; the table is written block by block, in the order of nodes."""
    from heterophily.prediction.predict_disk import write_predictions

    counts = write_predictions(model, graph, out).tolist()
    named = dict(zip(model.class_names, counts, strict=True))
    if as_json:
        import json as json_module

        print(json_module.dumps({"model": model.name, "predicted": named, "out": _text(out)}))
        return
    print(_predicted(model.name, graph, named))
    print("add --out predictions.parquet to keep them" if out is None else f"wrote {out}")


def _predicted(model: str, graph: Any, counts: Mapping[str, int]) -> str:
    """Say how many nodes were predicted as which class."""
    shares = ", ".join(f"{count:,} as {name}" for name, count in counts.items() if count)
    return f"{model} on {graph.name}: {graph.num_nodes:,} nodes, predicted {shares}"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _write(path: Path, header: list[str], rows: Iterable[list[str]]) -> None:
    """Write the table, whole or not at all."""
    import csv
    import io

    from heterophily.data.atomic import write_text

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    write_text(path, text.getvalue())


def threshold_line(model: TrainedModel, found: Predictions) -> str | None:
    """Say how many nodes are beyond the threshold that validation nodes chose, if they did.

    The column ``label`` holds the more probable class; of a rare class that is seldom the one.
    """
    evaluation = (model.card.get("choice") or {}).get("evaluation") or {}
    chosen = evaluation.get("threshold")
    if not chosen or chosen.get("class") not in found.class_names:
        return None
    place, value = found.class_names.index(chosen["class"]), float(chosen["value"])
    nodes = int((found.probabilities[:, place] >= value).sum())
    return (
        f"the column label has the more probable class; {nodes:,} nodes have p({chosen['class']}) "
        f"of at least {value:.2f}, the threshold chosen on validation nodes"
    )


def check_order(order: str | None, model: TrainedModel) -> int | None:
    """Return the class by which nodes are ranked: the rarer one of two; None for more classes."""
    if order is not None:
        lookup(dict.fromkeys(ORDERS), "order", order)
    if len(model.class_names) != 2:
        if order == "rank":
            raise InputError(
                f"--order rank is for two classes; this model knows {len(model.class_names)}"
            )
        return None
    sizes = model.card.get("class_sizes", {})
    first, second = (sizes.get(name, 0) for name in model.class_names)
    return 0 if first < second else 1


def sorted_by(found: Predictions, wanted: int) -> Predictions:
    """Return the nodes in the order of the probability of a class, the highest first.

    Equal probabilities keep the order of the nodes.
    """
    import numpy as np

    places = np.argsort(-found.probabilities[:, wanted], kind="stable")
    weights = found.channel_weights
    return replace(
        found,
        node_ids=found.node_ids[places],
        probabilities=found.probabilities[places],
        channel_weights=None if weights is None else weights[places],
    )


def ranked_rows(found: Predictions, wanted: int) -> Iterator[list[str]]:
    """Iterate over the rows, each with its rank before it: 1 is the most probable node."""
    import numpy as np

    places = np.argsort(-found.probabilities[:, wanted], kind="stable")
    ranks = np.empty_like(places)
    ranks[places] = np.arange(1, places.size + 1)
    for rank, row in zip(ranks.tolist(), found.rows(), strict=True):
        yield [str(rank), *row]
