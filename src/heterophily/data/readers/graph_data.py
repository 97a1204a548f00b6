"""The ``.npz`` files of the collection GraphData: SciPy matrices pickled inside, read safely."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data.npz_arrays import read_header
from heterophily.data.pieces import Pieces
from heterophily.data.readers.safe_pickle import LIMIT_BYTES, loads
from heterophily.errors import InputError


def read_graph_data(path: Path) -> Pieces:
    """Read ``adj_matrix`` (N, N), ``node_attr`` (N, F) and ``node_label`` (N,).

    Matrices are pickled CSR matrices or plain arrays; a pickle is never executed.
    """
    adjacency, features, labels = (
        _member(path, name) for name in ("adj_matrix", "node_attr", "node_label")
    )
    if not sp.issparse(adjacency) or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(f"{path}: adj_matrix is not a square sparse matrix")
    count = adjacency.shape[0]
    if features.shape[0] != count or getattr(labels, "shape", None) != (count,):
        raise InputError(f"{path}: adj_matrix, node_attr and node_label have different sizes")
    edges = np.stack(sp.coo_array(adjacency).coords)
    matrix = sp.csr_array(features, dtype=np.float32) if sp.issparse(features) else features
    return Pieces(edge_index=edges, labels=np.asarray(labels), features=matrix, name=path.stem)


def _member(path: Path, name: str) -> Any:
    """Return one array of the archive; of a pickled matrix, the matrix."""
    try:
        with zipfile.ZipFile(path) as archive:
            member = archive.getinfo(f"{name}.npy")
            if member.file_size > LIMIT_BYTES:
                raise InputError(f"{path}: {name} has {member.file_size:,} bytes and is refused")
            stream = io.BytesIO(archive.read(member))
    except KeyError:
        raise InputError(f"{path} has no field {name!r}") from None
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise InputError(
            f"{path} is damaged or not an .npz file ({error}); get it again"
        ) from error
    place = f"{name} of {path}"
    shape, is_fortran, dtype = read_header(stream, place)
    if dtype.hasobject:
        found = loads(stream.read(), place=place)
        return found.item() if isinstance(found, np.ndarray) and found.shape == () else found
    values = np.frombuffer(stream.read(), dtype)
    if values.size != int(np.prod(shape)):
        raise InputError(f"{place} declares shape {shape} and holds something else")
    return values.reshape(shape, order="F" if is_fortran else "C")
