"""A hash of every column inside a Parquet file: the checksums of its pages leave out its footer."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEY = b"heterophily"


def sealed(table: Any) -> Any:
    """Return the table with the hashes of its columns in its metadata.

    >>> table = sealed(pa.table({"a": [1, None]}))
    >>> is_intact(table.schema.metadata, table), is_intact(table.schema.metadata, table[:1])
    (True, False)
    """
    hashes = {name: column_hash(table.column(name)) for name in table.column_names}
    metadata = {**(table.schema.metadata or {}), KEY: json.dumps(hashes).encode()}
    return table.replace_schema_metadata(metadata)


def is_intact(metadata: dict[bytes, bytes] | None, table: Any) -> bool:
    """Whether columns read from a file are those that were sealed; True without a seal."""
    if not metadata or KEY not in metadata:
        return True
    hashes = json.loads(metadata[KEY])
    return all(hashes.get(name) == column_hash(table.column(name)) for name in table.column_names)


def names_fit(metadata: dict[bytes, bytes] | None, names: list[str]) -> bool:
    """Whether the columns of a file are called as when it was sealed; True without a seal."""
    return not metadata or KEY not in metadata or list(json.loads(metadata[KEY])) == names


def column_hash(column: Any) -> str:
    """Return a hash of type, length, missing cells and values of a chunked column."""
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    digest = hashlib.sha256(f"{array.type} {len(array)}|".encode())
    digest.update(np.packbits(array.is_null().to_numpy(zero_copy_only=False)).tobytes())
    if pa.types.is_string(array.type):
        filled = pc.fill_null(array, "")
        digest.update(pc.binary_length(filled).to_numpy(zero_copy_only=False).tobytes())
        _, offsets, data = filled.buffers()
        ends = np.frombuffer(offsets, np.int32)[[filled.offset, filled.offset + len(filled)]]
        digest.update(memoryview(data or b"")[ends[0] : ends[1]])
    else:
        digest.update(pc.fill_null(array, 0).to_numpy(zero_copy_only=False).tobytes())
    return digest.hexdigest()
