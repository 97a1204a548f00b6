"""Reading pickles of strangers: arrays, sparse matrices and plain containers, nothing executed.

A pickle is a program that may call any function of any module. This reader looks at every opcode
before it runs one, and answers each name the pickle asks for with a stand-in of its own: the real
``numpy``, ``scipy`` or ``os`` is never reached. A name without a stand-in is refused.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.npz_arrays import read_header
from heterophily.errors import InputError

LIMIT_BYTES = 2**28
MAX_DEPTH = 16
FORBIDDEN = {"PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4", "INST", "OBJ", "NEXT_BUFFER"}
_NUMERIC = re.compile(r"[<>=|]?[biuf][1248]")


class _RefusedError(Exception):
    """The pickle asks for something that has no stand-in."""


class _Dtype:
    """Stand-in of ``numpy.dtype``: the type of plain numbers, or of objects."""

    __slots__ = ("value",)

    def __init__(self, code: Any, align: Any = False, copy: Any = False) -> None:
        code = _text(code)
        if code in ("O", "O8", "|O"):
            self.value = np.dtype(object)
        elif isinstance(code, str) and _NUMERIC.fullmatch(code):
            self.value = np.dtype(code)
        else:
            raise _RefusedError(f"an array of type {code!r}")

    def __setstate__(self, state: Any) -> None:
        if _text(state[1]) == ">":
            self.value = self.value.newbyteorder(">")


class _Array:
    """Stand-in of ``numpy.ndarray`` under construction."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None

    def __setstate__(self, state: Any) -> None:
        _version, shape, dtype, is_fortran, data = state
        self.value = _array(data, dtype, shape, is_fortran)


class _Csr:
    """Stand-in of ``scipy.sparse.csr_matrix`` under construction."""

    __slots__ = ("state",)

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise _RefusedError("a sparse matrix of an unknown kind")
        self.state = {_text(key): value for key, value in state.items()}

    def matrix(self) -> sp.csr_array:
        parts = [self.state[key] for key in ("data", "indices", "indptr")]
        shape = self.state.get("_shape", self.state.get("shape"))
        if not all(isinstance(part, _Array) for part in parts):
            raise _RefusedError("a sparse matrix whose parts are not arrays")
        matrix = sp.csr_array(tuple(part.value for part in parts), shape=shape)
        matrix.check_format(full_check=True)
        return matrix


class _Function:
    """A callable that the pickle can call and cannot change."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise _RefusedError("a change of a function")


def _text(value: Any) -> Any:
    return value.decode("latin1") if isinstance(value, bytes) else value


def _array(data: Any, dtype: Any, shape: Any, is_fortran: Any = False) -> NDArray[Any]:
    if not isinstance(dtype, _Dtype) or not isinstance(shape, tuple):
        raise _RefusedError("an array without type or shape")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise _RefusedError(f"an array of shape {shape}")
    order: Any = "F" if is_fortran else "C"
    if dtype.value.hasobject:
        if not isinstance(data, list) or len(data) != math.prod(shape):
            raise _RefusedError("an object array without its objects")
        array = np.empty(len(data), object)
        for index, item in enumerate(data):
            array[index] = item
        return array.reshape(shape, order=order)
    raw = data.encode("latin1") if isinstance(data, str) else data
    if not isinstance(raw, (bytes, bytearray)):
        raise _RefusedError("an array without its bytes")
    array = np.frombuffer(raw, dtype.value) if raw else np.zeros(0, dtype.value)
    return array.reshape(shape, order=order)


def _scalar(dtype: Any, data: Any) -> Any:
    return _array(data, dtype, (1,))[0].item()


def _array_from_buffer(buffer: Any, dtype: Any, shape: Any, order: Any) -> _Array:
    built = _Array()
    built.value = _array(buffer, dtype, shape, order == "F")
    return built


def _default_dict(factory: Any = None) -> dict[Any, Any]:
    if factory not in (None, list):
        raise _RefusedError("a defaultdict of something else than lists")
    return {}  # the entries follow; nobody asks for the default


def _encode(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise _RefusedError("text in an unknown encoding")
    return text.encode("latin1")


def _empty_bytes() -> bytes:
    return b""


def _reconstruct_csr(kind: Any, base: Any, state: Any) -> _Csr:
    if kind is not _Csr or base is not None or state is not None:
        raise _RefusedError("copyreg._reconstructor of something else than a CSR matrix")
    return _Csr()


def _stand_ins() -> dict[tuple[str, str], Any]:
    reconstruct = _Function(lambda *_: _Array())
    from_buffer = _Function(_array_from_buffer)
    names: dict[tuple[str, str], Any] = {
        ("numpy", "ndarray"): None,  # only an argument of _reconstruct
        ("numpy", "dtype"): _Dtype,
        ("collections", "defaultdict"): _Function(_default_dict),
        ("_codecs", "encode"): _Function(_encode),
    }
    for core in ("numpy.core", "numpy._core"):
        names[f"{core}.multiarray", "_reconstruct"] = reconstruct
        names[f"{core}.multiarray", "scalar"] = _Function(_scalar)
        names[f"{core}.numeric", "_frombuffer"] = from_buffer
    for module in ("scipy.sparse.csr", "scipy.sparse._csr"):
        names[module, "csr_matrix"] = names[module, "csr_array"] = _Csr
    for module in ("builtins", "__builtin__"):
        names[module, "list"] = list
        names[module, "object"] = None  # only an argument of _reconstructor
        names[module, "bytes"] = _Function(_empty_bytes)
    for module in ("copyreg", "copy_reg"):
        names[module, "_reconstructor"] = _Function(_reconstruct_csr)
    return names


class _SafeUnpickler(pickle.Unpickler):
    """An unpickler that knows its stand-ins and nothing else."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        try:
            return _stand_ins()[module_name, global_name]
        except KeyError:
            raise _RefusedError(f"{module_name}.{global_name}") from None

    def persistent_load(self, pid: Any) -> Any:
        raise _RefusedError("an object from outside the file")


def _check_opcodes(data: bytes) -> None:
    """Walk through the program without running it."""
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in FORBIDDEN:
            raise _RefusedError(f"the instruction {opcode.name}")
        if "PUT" in opcode.name and int(argument or 0) > len(data):  # would only fill the memory
            raise _RefusedError(f"memory cell {argument}")


def _plain(value: Any, seen: dict[int, Any], depth: int = 0) -> Any:
    """Replace stand-ins by what they stand for, in containers as well."""
    if isinstance(value, (int, float, str, bytes, bool)) or value is None:
        return value
    if id(value) in seen:
        return seen[id(value)]
    if depth > MAX_DEPTH:
        raise _RefusedError("containers nested too deeply")
    result: Any
    if isinstance(value, _Csr):
        result = value.matrix()
    elif isinstance(value, _Array):
        result = value.value
        if result is None:
            raise _RefusedError("an array without contents")
        if result.dtype.hasobject:
            items = [_plain(item, seen, depth + 1) for item in result.ravel().tolist()]
            result = np.empty(len(items), object)
            result[:] = items
            result = result.reshape(value.value.shape)
    elif type(value) is dict:
        result = {_plain(k, seen, depth + 1): _plain(v, seen, depth + 1) for k, v in value.items()}
    elif type(value) in (list, tuple):
        result = type(value)(_plain(item, seen, depth + 1) for item in value)
    else:
        raise _RefusedError(f"an object of type {type(value).__name__.lstrip('_')}")
    seen[id(value)] = result
    return result


def loads(data: bytes, *, place: str) -> Any:
    """Return the arrays, sparse matrices and containers of a pickle; ``place`` names it."""
    if len(data) > LIMIT_BYTES:
        raise InputError(f"{place} has {len(data):,} bytes; a pickle of this size is refused")
    try:
        _check_opcodes(data)
        return _plain(_SafeUnpickler(io.BytesIO(data), encoding="latin1").load(), {})
    except _RefusedError as error:
        raise InputError(
            f"{place} is a pickle that asks for {error}; only NumPy arrays, SciPy CSR matrices and "
            "plain containers are read, and nothing was executed"
        ) from None
    except Exception as error:  # a damaged pickle fails in any way
        raise InputError(f"{place} is damaged or not a pickle ({type(error).__name__})") from error


def load(path: Path) -> Any:
    """Return the arrays, sparse matrices and containers of a pickle file."""
    return loads(_bytes(path), place=str(path))


def load_object_array(path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file whose elements are pickled containers of arrays."""
    stream = io.BytesIO(_bytes(path))
    shape, _, dtype = read_header(stream, str(path))
    if not dtype.hasobject:
        raise InputError(f"{path} holds {dtype}, expected an array of objects")
    array = loads(stream.read(), place=str(path))
    if not isinstance(array, np.ndarray) or array.shape != shape:
        raise InputError(f"{path} declares shape {shape} and holds something else")
    return array


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LIMIT_BYTES:
            raise InputError(f"{path} is larger than {LIMIT_BYTES:,} bytes and is refused")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
