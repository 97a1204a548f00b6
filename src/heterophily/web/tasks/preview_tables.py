"""Look at the tables of an upload: their columns, what each seems to hold, first values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heterophily.web.unpacked import check_unpacked
from heterophily.web.worker import Context


def preview_tables(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return the columns of each table in the folder of the graph."""
    from heterophily.data.encode.kinds import KINDS, LEFT_OUT
    from heterophily.data.tables.preview import preview_edges, preview_nodes

    os.chdir(request["graph_folder"])
    looks = {"edges": preview_edges, "nodes": preview_nodes}
    tables = {}
    for role, name in request["files"].items():
        context.check()
        check_unpacked(Path(name), request["max_unpacked_bytes"])
        tables[role] = asdict(looks[role](name, has_header=request["has_header"]))
    return {
        "tables": tables,
        "kinds": {kind: text for kind, text in KINDS.items() if kind not in LEFT_OUT},
    }
