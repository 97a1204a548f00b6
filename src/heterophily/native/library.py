"""Find the shared library for this processor; say which one is used and why."""

from __future__ import annotations

import ctypes
import os
import platform
from dataclasses import dataclass
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from heterophily.errors import InputError
from heterophily.native.structs import STEPS, GraphStruct, ReplicaStruct, StepStruct, TaskStruct

ISA_VARIABLE = "HETEROPHILY_ENGINE_ISA"
"""Environment variable that names an instruction set, ``avx512``, ``avx2`` or ``baseline``; or
``none``: no native engine."""

_NEEDS = {  # instruction set -> flags of /proc/cpuinfo, best first
    "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"},
    "avx2": {"avx2", "fma"},
    "baseline": set[str](),
}


@dataclass(frozen=True)
class NativeLibrary:
    """A loaded library, or why there is none."""

    isa: str | None
    reason: str
    library: ctypes.CDLL | None = None


def engine() -> NativeLibrary:
    """Return the native engine of this machine; ``library`` is None when there is none."""
    return _load(os.environ.get(ISA_VARIABLE, ""))


@cache
def _load(wanted: str) -> NativeLibrary:
    if wanted == "none":
        return NativeLibrary(None, f"switched off by {ISA_VARIABLE}=none")
    if wanted and wanted not in _NEEDS:
        raise InputError(f"{ISA_VARIABLE}={wanted!r}; choose none, {', '.join(_NEEDS)}")
    flags = processor_flags()
    usable = [isa for isa, needs in _NEEDS.items() if needs <= flags]
    if wanted and wanted not in usable:
        return NativeLibrary(None, f"{ISA_VARIABLE}={wanted}, but this processor lacks it")
    missing = []
    for isa in [wanted] if wanted else usable:
        path = _path(isa)
        if path is None:
            missing.append(isa)
            continue
        try:
            library = declared(ctypes.CDLL(str(path)))
        except OSError as error:
            return NativeLibrary(None, f"{path.name} cannot be loaded: {error}")
        why = f"chosen by {ISA_VARIABLE}" if wanted else "the best this processor has"
        if missing:
            why = f"{' and '.join(missing)} not built"
        return NativeLibrary(isa, why, library)
    return NativeLibrary(
        None, "not built: no C++ compiler was found when the package was installed"
    )


def instruction_set() -> str:
    """Return the instruction set that trainings here use: the engine's, or the processor's best."""
    best = next(isa for isa, needs in _NEEDS.items() if needs <= processor_flags())
    return engine().isa or best


def processor_flags() -> set[str]:
    """Return the instruction sets of this processor, as Linux spells them."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return set()
    return set(_processor("flags").split())  # not Linux: none, and the baseline runs everywhere


def processor_vendor() -> str:
    """Return who made the processor, as Linux spells it; elsewhere the kind of machine."""
    return _processor("vendor_id") or platform.machine()


@cache
def _processor(field: str) -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("ascii", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == field:
                return value.strip()
    except OSError:
        pass
    return ""


def _path(isa: str) -> Path | None:
    folder = Path(__file__).parent
    for suffix in (*EXTENSION_SUFFIXES, ".so"):
        path = folder / f"_native_{isa}{suffix}"
        if path.is_file():
            return path
    return None


def runs_programs(library: ctypes.CDLL | None) -> bool:
    """Whether a library knows the steps of this package; those built earlier do not."""
    if library is None or not hasattr(library, "hp_step_kinds"):
        return False
    library.hp_step_bytes.restype = library.hp_step_kinds.restype = ctypes.c_int64
    size, kinds = library.hp_step_bytes(), library.hp_step_kinds()
    return bool(size == ctypes.sizeof(StepStruct) and kinds == len(STEPS))


def declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """Return a library of ours with the types of its functions declared."""
    library.hp_train.restype = ctypes.c_int64
    library.hp_train.argtypes = [
        ctypes.POINTER(GraphStruct),
        ctypes.POINTER(ReplicaStruct),
        ctypes.c_int64,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    if runs_programs(library):
        library.hp_train_tasks.restype = ctypes.c_int64
        library.hp_train_tasks.argtypes = [
            ctypes.POINTER(GraphStruct),
            ctypes.POINTER(TaskStruct),
            *library.hp_train.argtypes[2:],
        ]
    library.hp_dropout_mask.restype = None
    library.hp_dropout_mask.argtypes = [
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.c_double,
        ctypes.c_int64,
        ctypes.c_void_p,
    ]
    library.hp_vector_bytes.restype = ctypes.c_int32
    return library
