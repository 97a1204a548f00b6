"""The native engine: one source, compiled once for each instruction set, all of it optional."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("src/heterophily/native/source")
COMMON = [
    *["-std=c++17", "-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"],
    "-ffp-contract=off",  # every instruction set rounds alike
    "-Wno-maybe-uninitialized",  # false alarms of GCC 12 in its own AVX-512 headers
]
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
FLAGS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma"],
}


class BuildEngine(build_ext):
    """Builds each library in its own folder of object files; they come from the same source.

    Builds in place (``build_ext --inplace``, for developers) keep finished libraries in the user's
    cache, by a hash of sources, flags and compiler: other clones of the same sources take them.
    """

    def run(self) -> None:
        """Build all libraries."""
        self.keeps = bool(self.inplace)  # the base class forgets it while it builds
        super().run()

    def build_extension(self, ext: Extension) -> None:
        """Build one library, or take the one that was built from the same sources before."""
        before, target = self.build_temp, Path(self.get_ext_fullpath(ext.name))
        kept = kept_library(ext, self.compiler.compiler_so) if self.keeps else None
        if kept is not None and kept.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(kept, target)
            return
        self.build_temp = str(Path(before) / ext.name)
        try:
            super().build_extension(ext)
        finally:
            self.build_temp = before
        if kept is not None:
            try:
                kept.parent.mkdir(parents=True, exist_ok=True)
                part = kept.with_suffix(f".{os.getpid()}")
                shutil.copy(target, part)
                part.replace(kept)
            except OSError:
                pass  # no cache folder: the next clone compiles again

    def get_export_symbols(self, ext: Extension) -> list[Any]:
        """Return none: the library is called through ctypes and has no PyInit function."""
        return []


def kept_library(ext: Extension, compiler: list[str]) -> Path:
    """Return where the cache has a library of these sources, flags and compiler."""
    said = subprocess.run([compiler[0], "--version"], capture_output=True, check=False).stdout
    hashed = hashlib.sha256(said)
    for word in (*compiler, *ext.extra_compile_args, *ext.extra_link_args):
        hashed.update(word.encode() + b"\0")
    for path in sorted(SOURCES.glob("*.*")):
        hashed.update(path.name.encode() + b"\0" + path.read_bytes())
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "heterophily" / "build" / f"{hashed.hexdigest()[:32]}{suffix}"


def extension(isa: str) -> Extension:
    """Describe the library for an instruction set."""
    return Extension(
        f"heterophily.native._native_{isa}",
        sources=[str(path) for path in sorted(SOURCES.glob("*.cpp"))],
        depends=[str(path) for path in sorted(SOURCES.glob("*.h"))],
        extra_compile_args=[*COMMON, *FLAGS[isa]],
        extra_link_args=["-pthread"],
        language="c++",
        optional=True,
    )


setup(
    ext_modules=[extension(isa) for isa in FLAGS if IS_X86 or isa == "baseline"],
    cmdclass={"build_ext": BuildEngine},
)
