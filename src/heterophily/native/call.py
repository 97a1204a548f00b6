"""Calling a function of the library: a struct of sizes and buffers in, results in the buffers."""

from __future__ import annotations

import ctypes
from typing import Any

from heterophily.native.library import engine


def native_function(name: str, struct: type[ctypes.Structure]) -> Any:
    """Return a function of the library; None without a library, or with one that is older."""
    function = getattr(engine().library, name, None)
    if function is not None:
        function.restype = ctypes.c_int32
        function.argtypes = [ctypes.POINTER(struct), ctypes.c_int32]
    return function


def call_native(function: Any, struct: ctypes.Structure, threads: int) -> None:
    """Call it; memory that was refused becomes a ``MemoryError``."""
    if not function(ctypes.byref(struct), threads):
        raise MemoryError
