"""Where the datasets come from: the public files, pinned, and the reader of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from heterophily.data.pieces import Pieces
from heterophily.data.readers.deezer import read_deezer
from heterophily.data.readers.facebook100 import read_facebook100
from heterophily.data.readers.geom_gcn import read_geom_gcn
from heterophily.data.readers.graph_data import read_graph_data
from heterophily.data.readers.planetoid import FILES as PLANETOID_FILES
from heterophily.data.readers.planetoid import read_planetoid
from heterophily.data.readers.yandex import read_yandex

GITHUB = "https://raw.githubusercontent.com"
GEOM_GCN = f"{GITHUB}/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"
PLANETOID = f"{GITHUB}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3"
YANDEX = f"{GITHUB}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318"
LINKX = f"{GITHUB}/CUAI/Non-Homophily-Large-Scale/c2a1759aecd71d5604aa1a5a4719e3ffded18249"
GRAPH_DATA = f"{GITHUB}/EdisonLeeeee/GraphData/6bf5122efffc6b369993f5c7a402ab2183e85263"
# The same archive twice: SNAP's own address, and a copy whose checksum is known.
DEEZER = (
    "https://snap.stanford.edu/data/deezer_europe.zip",
    f"{GITHUB}/mabeerkhan/Intermediate-Programing/ca3fc0aab07a8822a3a9f40d89022383ff4292d6"
    "/data/deezer_europe.zip",
)
DEEZER_SHA256 = "c8633cd1b543a9d730d7bc9c18c43e09bb9d668e4c2c52eabade40285f5d5bea"
PUBMED_SHA256 = {
    "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A public file: addresses in order of preference, the name to keep it under, its checksum.

    Without a checksum the content hash of the graph is the check.
    """

    urls: tuple[str, ...]
    name: str
    sha256: str | None = None

    @classmethod
    def at(cls, url: str, sha256: str | None = None) -> RemoteFile:
        """Return the file at one address, under its own name."""
        return cls((url,), url.rsplit("/", 1)[1], sha256)


@dataclass(frozen=True, slots=True)
class Source:
    """The public files of one dataset and the function that reads a folder of them."""

    files: tuple[RemoteFile, ...]
    read: Callable[[Path], Pieces]


def _geom_gcn_splits(name: str) -> tuple[RemoteFile, ...]:
    return tuple(
        RemoteFile.at(f"{GEOM_GCN}/splits/{name}_split_0.6_0.2_{index}.npz") for index in range(10)
    )


def geom_gcn(name: str) -> Source:
    """Return the source of a graph of Geom-GCN, with its ten splits."""
    stems = ("out1_graph_edges.txt", "out1_node_feature_label.txt")
    files = tuple(RemoteFile.at(f"{GEOM_GCN}/new_data/{name}/{stem}") for stem in stems)
    return Source(files + _geom_gcn_splits(name), partial(read_geom_gcn, name=name))


def planetoid(name: str, sha256: Mapping[str, str] | None = None) -> Source:
    """Return the source of a citation graph of Planetoid, with the ten splits of Geom-GCN."""
    files = tuple(
        RemoteFile.at(f"{PLANETOID}/data/ind.{name}.{part}", (sha256 or {}).get(part))
        for part in PLANETOID_FILES
    )
    return Source(files + _geom_gcn_splits(name), partial(read_planetoid, name=name))


def yandex(name: str) -> Source:
    """Return the source of a graph of Platonov et al."""
    file = RemoteFile.at(f"{YANDEX}/data/{name}.npz")
    return Source((file,), lambda folder: read_yandex(folder / file.name))


def graph_data(name: str) -> Source:
    """Return the source of a graph of the collection GraphData."""
    file = RemoteFile.at(f"{GRAPH_DATA}/datasets/{name}.npz")
    return Source((file,), lambda folder: read_graph_data(folder / file.name))


def deezer() -> Source:
    """Return the source of deezer-europe: SNAP's archive and the five splits of Lim et al."""
    files = (
        RemoteFile(DEEZER, "deezer_europe.zip", DEEZER_SHA256),
        RemoteFile.at(f"{LINKX}/data/splits/deezer-europe-splits.npy"),
    )
    return Source(files, read_deezer)


def facebook100(school: str) -> Source:
    """Return the source of one school of Facebook100, as distributed by Lim et al."""
    file = RemoteFile.at(f"{LINKX}/data/facebook100/{school}.mat")
    return Source((file,), lambda folder: read_facebook100(folder / file.name))
