"""Write a graph in the format that the file name asks for."""

from __future__ import annotations

from pathlib import Path

from heterophily.data.graph import Graph
from heterophily.errors import InputError

FILE_SUFFIXES = (".npz", ".graphml", ".gexf", ".disk")
DISK = ".disk"


def check_target(path: Path) -> None:
    """Refuse an output path that cannot be written, before any work is done."""
    if path.suffix and path.suffix.lower() not in FILE_SUFFIXES:
        raise InputError(
            f"{path}: cannot write {path.suffix!r} files; choose {', '.join(FILE_SUFFIXES)}, or a "
            "folder name for a pair of CSV tables"
        )
    if not path.parent.exists():
        raise InputError(f"{path.parent}: no such folder; make it first")
    if path.suffix.lower() == DISK:
        return  # an unfinished conversion is there to be finished
    if path.suffix and path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    if not path.suffix and path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; name a folder for the two tables")


def write_graph(graph: Graph, path: str | Path) -> list[Path]:
    """Write ``graph`` to a .npz, .graphml or .gexf file, a .disk folder, or as two CSV tables."""
    path = Path(path)
    check_target(path)
    if path.suffix.lower() == ".npz":
        from heterophily.data.npz import write_npz

        write_npz(graph, path)
    elif path.suffix.lower() == DISK:
        from heterophily.data.disk.write import write_disk_graph

        write_disk_graph(graph, path)
    elif path.suffix:
        from heterophily.data.markup import write_markup

        write_markup(graph, path)
    else:
        from heterophily.data.tables import write_tables

        path.mkdir(exist_ok=True)
        edges, nodes = path / "edges.csv", path / "nodes.csv"
        write_tables(graph, edges, nodes)
        return [edges, nodes]
    return [path]
