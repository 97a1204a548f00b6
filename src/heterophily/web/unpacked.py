"""What a file of a stranger says it unpacks to: asked before it is read."""

from __future__ import annotations

from pathlib import Path

from heterophily.errors import InputError


def check_unpacked(path: Path, limit: int) -> None:
    """Refuse a packed array or Parquet file that says it unpacks to more than ``limit`` bytes."""
    size = {".npz": _npz_bytes, ".parquet": _parquet_bytes}.get(path.suffix, _file_bytes)(path)
    if size > limit:
        raise InputError(
            f"{path.name} unpacks to {size >> 20:,} MB; the page takes at most {limit >> 20:,} MB, "
            "the command line takes more"
        )


def _npz_bytes(path: Path) -> int:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return 0  # the reader says what is wrong


def _parquet_bytes(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
        return sum(facts.row_group(at).total_byte_size for at in range(facts.num_row_groups))
    except (pa.ArrowException, OSError):
        return 0  # the reader says what is wrong


def _file_bytes(path: Path) -> int:
    return path.stat().st_size
