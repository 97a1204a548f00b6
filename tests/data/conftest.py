"""Writers of the upstream formats and a local server, for the tests of readers and catalog."""

from __future__ import annotations

import functools
import http.server
import io
import pickle
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp


def write_geom_gcn(folder: Path, pieces: Any, *, lists_ids: bool = False) -> None:
    features = sp.csr_array(pieces.features)
    lines = ["node_id\tfeature\tlabel"]
    for node, label in enumerate(pieces.labels):
        columns = features.indices[features.indptr[node] : features.indptr[node + 1]]
        if not lists_ids:
            row = np.zeros(features.shape[1], int)
            row[columns] = 1
            columns = row
        lines.append(f"{node}\t{','.join(map(str, columns))}\t{label}")
    (folder / "out1_node_feature_label.txt").write_text("\n".join(lines) + "\n")
    edges = ["node_id\tnode_id", *(f"{u}\t{v}" for u, v in pieces.edge_index.T)]
    (folder / "out1_graph_edges.txt").write_text("\n".join(edges) + "\n")


def write_geom_gcn_splits(folder: Path, name: str, splits: Any) -> None:
    for index, split in enumerate(splits):
        np.savez(
            folder / f"{name}_split_0.6_0.2_{index}.npz",
            train_mask=split.train.astype(np.uint8),
            val_mask=split.validation.astype(np.uint8),
            test_mask=split.test.astype(np.uint8),
        )


def python2_pickle(value: Any) -> bytes:
    """A pickle that asks for the module names of Python 2 and of its libraries."""
    data = pickle.dumps(value, protocol=2)
    for new, old in (
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
    ):
        data = data.replace(new, old)
    return data


def write_planetoid(folder: Path, name: str, **parts: Any) -> None:
    for part, value in parts.items():
        path = folder / f"ind.{name}.{part.replace('_', '.')}"
        if part == "test_index":
            path.write_text("".join(f"{node}\n" for node in value))
        else:
            path.write_bytes(python2_pickle(value))


def write_deezer(folder: Path, *, members: dict[str, str], splits: list[Any] | None = None) -> None:
    with zipfile.ZipFile(folder / "deezer_europe.zip", "w") as archive:
        for member, text in members.items():
            archive.writestr(member, text)
    if splits is not None:
        array = np.empty(len(splits), object)
        array[:] = splits
        np.save(folder / "deezer-europe-splits.npy", array, allow_pickle=True)


def npz_bytes(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.fixture(scope="session")
def upstream_files() -> SimpleNamespace:
    """Functions that write small files in the upstream formats."""
    return SimpleNamespace(
        geom_gcn=write_geom_gcn,
        geom_gcn_splits=write_geom_gcn_splits,
        planetoid=write_planetoid,
        deezer=write_deezer,
        python2_pickle=python2_pickle,
        npz_bytes=npz_bytes,
    )


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.server.failures > 0:  # type: ignore[attr-defined]
            self.server.failures -= 1  # type: ignore[attr-defined]
            self.send_error(503)
            return
        super().do_GET()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A web server on this machine: ``folder`` is what it serves, ``url`` its address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked, server.failures = [], 0  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield SimpleNamespace(
            folder=folder, url=f"http://127.0.0.1:{server.server_address[1]}", server=server
        )
        server.shutdown()
        thread.join()
