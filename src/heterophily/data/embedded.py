"""Real graphs that come with installed packages: nothing to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.pieces import Pieces
from heterophily.errors import MissingExtraError


def davis() -> Pieces:
    """Return Davis' Southern Women: 18 women, 14 events, an edge for each attendance.

    Bipartite, so every neighbour has the other label: heterophily that does no harm.
    """
    import networkx as nx

    graph = nx.davis_southern_women_graph()
    sides = [graph.nodes[node]["bipartite"] for node in graph]
    return _from_networkx(graph, "davis", sides, ("woman", "event"))


def karate() -> Pieces:
    """Return Zachary's karate club: 34 members, labelled by the club they joined; no weights."""
    import networkx as nx

    graph = nx.karate_club_graph()
    clubs = ("Mr. Hi", "Officer")
    labels = [clubs.index(graph.nodes[node]["club"]) for node in graph]
    return _from_networkx(graph, "karate", labels, clubs)


def cora_content() -> Pieces:
    """Return Cora in the node order of ``cora.content``, from the package ``graphdatascience``.

    The same graph as ``cora`` under another numbering: the fixed splits do not apply to it.
    """
    papers = _table("cora", "cora_nodes")
    links = _table("cora", "cora_rels")
    ids = np.asarray(papers["nodeId"])
    return Pieces(
        edge_index=_numbered(ids, links["sourceNodeId"], links["targetNodeId"]),
        labels=np.asarray(papers["subject"]),
        features=_feature_rows(papers["features"]),
        node_ids=ids,
        name="cora-content",
    )


def imdb() -> Pieces:
    """Return the movies of IMDB that have a genre, linked by shared actors.

    An edge joins two movies with at least one common actor, the label is the genre, the features
    are plot keywords. From the package ``graphdatascience``.
    """
    movies = _table("imdb", "imdb_movies_with_genre")
    roles = _table("imdb", "imdb_acted_in")
    ids = np.asarray(movies["nodeId"])
    actor, movie = np.asarray(roles["sourceNodeId"]), np.asarray(roles["targetNodeId"])
    has_genre = np.isin(movie, ids)
    columns = np.unique(actor[has_genre], return_inverse=True)[1]
    rows = _numbered(ids, movie[has_genre])[0]
    cast = sp.csr_array((np.ones(rows.size, np.float32), (rows, columns)))
    cast.resize((ids.size, cast.shape[1]))
    common = sp.triu(cast @ cast.T, k=1, format="coo")  # actors in common, per pair of movies
    return Pieces(
        edge_index=np.stack(common.coords),
        labels=np.asarray(movies["genre"]),
        features=_feature_rows(movies["plot_keywords"]),
        node_ids=ids,
        name="imdb",
        is_directed=False,
    )


def digits_features() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the handwritten digits of scikit-learn: features (1797, 64) in 0..16, labels (1797,).

    Real features for generated graphs.
    """
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return np.asarray(features, np.float64), np.asarray(labels, np.int64)


EMBEDDED: Mapping[str, Callable[[], Pieces]] = {
    "davis": davis,
    "karate": karate,
    "cora-content": cora_content,
    "imdb": imdb,
}


def _from_networkx(
    graph: Any, name: str, labels: list[int], class_names: tuple[str, ...]
) -> Pieces:
    number = {node: index for index, node in enumerate(graph)}
    edges = np.array([(number[u], number[v]) for u, v in graph.edges()], np.int64)
    return Pieces(
        edge_index=edges.T,
        labels=np.array(labels, np.int64),
        class_names=class_names,
        node_ids=np.array(list(graph)),
        name=name,
        is_directed=False,
    )


def _table(folder: str, stem: str) -> Any:
    """Return a Parquet table out of the package ``graphdatascience``.

    The package is found, not imported: importing it takes seconds.
    """
    spec = find_spec("graphdatascience")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "this dataset is read from the package graphdatascience: "
            "pip install 'heterophily[data]'"
        )
    package = Path(spec.submodule_search_locations[0])
    path = package / "resources" / folder / f"{stem}.parquet.gzip"
    if not path.is_file():
        raise MissingExtraError(
            f"the installed graphdatascience has no file {path.name}; pip install -U "
            "'heterophily[data]'"
        )
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _numbered(ids: NDArray[Any], *columns: Any) -> NDArray[np.int64]:
    """Return columns of known ids as node numbers, one row per column."""
    order = np.argsort(ids)
    return np.stack([order[np.searchsorted(ids, column, sorter=order)] for column in columns])


def _feature_rows(column: Any) -> sp.csr_array:
    """Return a Parquet column of equally long lists as (N, F)."""
    rows = column.combine_chunks()
    dense = rows.flatten().to_numpy().reshape(len(rows), -1)
    return sp.csr_array(dense.astype(np.float32))
