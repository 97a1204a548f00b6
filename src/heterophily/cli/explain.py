"""``heterophily explain``: why a node got its label."""

from __future__ import annotations

from typing import Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.batches import is_on_disk, open_any
from heterophily.cli.predict import Folder
from heterophily.cli.spread import spread
from heterophily.cli.trained import open_for
from heterophily.data.source import GraphSource


@spread
def explain(
    model: Folder,
    node: Annotated[str, typer.Option(help="Id of the node.", rich_help_panel=panels.DATA)],
    graph: GraphSource,
    json: sources.Json = False,
) -> None:
    """Explain the prediction for one node: what decided it, and what its neighbours are."""
    from heterophily.prediction.explain import explain as run
    from heterophily.prediction.folder import load_model

    loaded = load_model(model)
    from heterophily.prediction.predict_disk import can_read_in_parts

    if is_on_disk(graph) and can_read_in_parts(loaded):
        from heterophily.prediction.explain_disk import explain_on_disk

        found = explain_on_disk(loaded, open_any(graph), node)
    else:
        found = run(loaded, open_for(loaded, graph, with_labels=True), node)
    if json:
        import json as json_module

        print(json_module.dumps(found.to_dict()))
    else:
        print(found)
