"""Reading ``.npz`` files of strangers: arrays of plain numbers and text, nothing executed.

Every member is checked before its data is read: its name, its declared size against what the
archive holds, its type. No pickle is ever opened.
"""

from __future__ import annotations

import math
import os
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from heterophily.data.memory import need, refuse_bomb
from heterophily.errors import InputError

KINDS = "biufU"  # booleans, integers, floats, text
_HEADER_ERRORS = (
    *(ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError),
    tokenize.TokenError,
)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return all arrays of an ``.npz`` file by field name; refuse anything else in it."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(path, members)
            return {
                member.filename.removesuffix(".npy"): _read_member(path, archive, member)
                for member in members
            }
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(
            f"{path} is damaged or not an .npz file ({_first_line(error)}); get it again"
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is an archive of another kind ({_first_line(error)})") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse names with path parts, repeated names, other files, and archives that explode."""
    seen = set()
    for member in members:
        name = member.filename
        if "/" in name or "\\" in name or ":" in name or name.startswith("."):
            raise InputError(f"{path}: member {name!r} has a path in its name; the file is refused")
        if not name.endswith(".npy"):
            raise InputError(f"{path}: member {name!r} is not an array (.npy)")
        if name in seen:
            raise InputError(f"{path}: field {name.removesuffix('.npy')!r} occurs twice")
        seen.add(name)
    held, declared = path.stat().st_size, sum(member.file_size for member in members)
    refuse_bomb(str(path), held=held, unpacked=declared)
    need(declared, f"{path}: its arrays of {declared:,} bytes")


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    field = member.filename.removesuffix(".npy")
    with archive.open(member) as stream:
        shape, is_fortran, dtype = read_header(stream, f"{path}: field {field!r}")
        if dtype.hasobject:
            raise InputError(
                f"{path}: field {field!r} contains pickled objects, which are never opened; save "
                "it as plain numbers or text"
            )
        if dtype.kind not in KINDS:
            raise InputError(f"{path}: field {field!r} has type {dtype}; expected numbers or text")
        size = math.prod(shape) * dtype.itemsize
        held = member.file_size - stream.tell()
        if size != held:
            raise InputError(
                f"{path}: field {field!r} declares shape {shape} of {dtype}, {size:,} bytes, but "
                f"holds {held:,}"
            )
        data = stream.read()
    if len(data) != size:
        raise InputError(f"{path}: field {field!r} ends after {len(data):,} of {size:,} bytes")
    array = np.frombuffer(data, dtype) if size else np.zeros(math.prod(shape), dtype)
    array = array.reshape(shape, order="F" if is_fortran else "C")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def read_header(stream: IO[bytes], place: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, Fortran order and type that the header of an ``.npy`` stream declares."""
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read(stream)
    except _HEADER_ERRORS as error:
        raise InputError(f"{place} is not a NumPy array ({_first_line(error)})") from error
    if any(length < 0 for length in shape):
        raise InputError(f"{place} declares the impossible shape {shape}")
    return shape, is_fortran, dtype


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as a compressed ``.npz``; equal arrays give equal bytes (no time stamps)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for field, array in arrays.items():
            member = zipfile.ZipInfo(f"{field}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            with archive.open(member, "w", force_zip64=True) as stream:
                npy.write_array(stream, np.asarray(array, order="C"), allow_pickle=False)
