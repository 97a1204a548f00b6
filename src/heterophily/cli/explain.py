"""``heterophily explain``: why a node got its label."""

from __future__ import annotations

from typing import Annotated

import typer

from heterophily.cli import sources
from heterophily.cli.predict import Folder, open_for


def explain(
    model: Folder,
    node: Annotated[str, typer.Option(help="Id of the node.")],
    graph: sources.GraphArgument = None,
    edges: sources.Edges = None,
    nodes: sources.Nodes = None,
    ignore: sources.Ignore = "",
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Say which channel decided on a node, what its neighbours are, and how alike they are."""
    from heterophily.prediction.explain import explain as run
    from heterophily.prediction.folder import load_model

    loaded = load_model(model)
    opened = open_for(loaded, graph, edges, nodes, ignore, data_folder, offline, with_labels=True)
    found = run(loaded, opened, node)
    if json:
        import json as json_module

        print(json_module.dumps(found.to_dict()))
    else:
        print(found)
