"""What networkx does not say about a GraphML or GEXF file: nodes named twice, unknown ends.

networkx lets a second node of an id change the first, and makes a node of every end that no node
declares. Both are refused in tables, and so they are here.
"""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from heterophily.data.wording import short
from heterophily.errors import InputError

_CHUNK = 1 << 20
_OUTER = {
    "graph": ("graphml", "gexf"),
    "node": ("graph", "nodes"),
    "edge": ("graph", "edges"),
}
"""Elements whose place tells whether they are read, and the elements that may hold them."""


def check_markup(path: Path) -> int:
    """Refuse repeated node ids, ends that are no node, entities, and nodes in odd places.

    Returns the number of nodes that the file declares.
    """
    found = _Nodes(path)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.EntityDeclHandler = found.entity
    found.parser = parser
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    found.check_ends()
    return found.count


class _Nodes:
    def __init__(self, path: Path) -> None:
        self.path, self.parser = path, expat.ParserCreate()
        self._lines: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._open: list[str] = []

    @property
    def count(self) -> int:
        return len(self._lines)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        kind, line = name.rpartition("}")[2], self.parser.CurrentLineNumber
        outer = self._open[-1] if self._open else ""
        self._open.append(kind)
        wanted = _OUTER.get(kind)
        if wanted is not None and outer not in wanted:
            raise InputError(
                f"{self.path.name}, line {line}: a {kind} is inside {outer or 'nothing'}, where "
                "it would be ignored; graphs inside nodes cannot be read"
            )
        if kind == "node" and "id" in attributes:
            node = attributes["id"]
            if node in self._lines:
                raise InputError(
                    f"{self.path.name}, line {line}: node id {short(node)} was already on line "
                    f"{self._lines[node]}; keep one node of each id"
                )
            self._lines[node] = line
        elif kind == "edge":
            for end in ("source", "target"):
                if end not in attributes:
                    raise InputError(f"{self.path.name}, line {line}: an edge has no {end}")
                self._ends.setdefault(attributes[end], line)
        elif kind == "node":
            raise InputError(f"{self.path.name}, line {line}: a node has no id")

    def end(self, _: str) -> None:
        self._open.pop()

    def entity(self, name: str, *_: object) -> None:
        raise InputError(
            f"{self.path.name}, line {self.parser.CurrentLineNumber}: it declares the entity "
            f"{short(name)}; graph files need none, so the file is refused"
        )

    def check_ends(self) -> None:
        for node, line in self._ends.items():
            if node not in self._lines:
                raise InputError(
                    f"{self.path.name}, line {line}: an edge names node {short(node)}, which is "
                    "not declared; add the node or remove the edge"
                )
