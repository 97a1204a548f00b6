"""The native engine: one source, compiled once for each instruction set, all of it optional."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("src/heterophily/engine/native")
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
    """Builds each library in its own folder of object files; they come from the same source."""

    def build_extension(self, ext: Extension) -> None:
        """Build one library."""
        before = self.build_temp
        self.build_temp = str(Path(before) / ext.name)
        try:
            super().build_extension(ext)
        finally:
            self.build_temp = before

    def get_export_symbols(self, ext: Extension) -> list[Any]:
        """Return none: the library is called through ctypes and has no PyInit function."""
        return []


def extension(isa: str) -> Extension:
    """Describe the library for an instruction set."""
    return Extension(
        f"heterophily.engine._native_{isa}",
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
