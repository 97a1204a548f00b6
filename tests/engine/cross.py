"""Compile the engine for aarch64, train under an emulator, compare with this processor.

Needs a cross compiler and QEMU (Debian: ``apt install g++-aarch64-linux-gnu qemu-user``).
Builds tests/engine/cross.cpp with the native sources twice, in float64; losses must agree to 1e-9
(the C libraries round exp and log differently), dropout masks and counts exactly.

    python tests/engine/cross.py
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NATIVE = FOLDER.parents[1] / "src/heterophily/engine/native"
FLAGS = ["-std=c++17", "-O1", "-fno-math-errno", "-fno-trapping-math", "-static", "-pthread"]
TOLERANCE = 1e-9


def lines_of(compiler: str, emulator: list[str], folder: Path) -> list[str]:
    """Build the driver, run it, return what it prints."""
    program = folder / Path(compiler).name
    sources = [FOLDER / "cross.cpp", *sorted(NATIVE.glob("*.cpp"))]
    command = [compiler, *FLAGS, f"-I{NATIVE}", *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([*emulator, str(program)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def differences(here: list[str], there: list[str]) -> list[str]:
    """Return one line for each difference that is not rounding."""
    found = [f"{len(here)} lines here, {len(there)} there"] if len(here) != len(there) else []
    for ours, theirs in zip(here, there, strict=False):
        if ours.startswith("bytes of a vector"):
            continue
        if ours.startswith("loss"):
            first, second = (float(line.split()[1]) for line in (ours, theirs))
            if math.isclose(first, second, rel_tol=TOLERANCE):
                continue
        if ours != theirs:
            found.append(f"{ours!r} here, {theirs!r} there")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="aarch64-linux-gnu-g++")
    parser.add_argument("--emulator", default="qemu-aarch64")
    arguments = parser.parse_args()
    for tool in (arguments.compiler, arguments.emulator):
        if shutil.which(tool) is None:
            print(f"error: {tool} is not installed", file=sys.stderr)
            return 2
    with tempfile.TemporaryDirectory() as name:
        here = lines_of("g++", [], Path(name))
        there = lines_of(arguments.compiler, [arguments.emulator], Path(name))
    print("\n".join(there))
    found = differences(here, there)
    print("\n".join(found) or "the same answers on both processors")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
