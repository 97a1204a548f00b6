"""Compile the engine for other processors, train under an emulator, compare every bit.

Needs a cross compiler and QEMU (Debian: ``apt install g++-aarch64-linux-gnu qemu-user``). Problems
(six models, float32 and float64, a graph with twins; cornell when the data are there) are written
to files. tests/engine/cross.cpp trains them in several builds: x86-64 with vectors of 16 and of 64
bytes, with AVX2 and AVX-512 where the processor has them, and aarch64. All must print the same.

    python tests/engine/cross.py
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
NATIVE = FOLDER.parents[1] / "src/heterophily/native/source"
FLAGS = [
    *["-std=c++17", "-O0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"],
    *["-static", "-pthread", "-Wno-psabi"],
]
BUILDS = {  # name -> what a processor must have, flags
    "x86-64": (set(), []),
    "x86-64, vectors of 64 bytes": (set(), ["-DHP_VECTOR_BYTES=64"]),
    "AVX2": ({"avx2", "fma"}, ["-mavx2", "-mfma"]),
    "AVX-512": (
        {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
        ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma"],
    ),
}
NETWORKS = (
    *("gcn", "acm-gcn", "acmii-gcn", "acm-gcn+", "acm-gcn++", "acm-snowball-2"),
    *("res-gcn", "res-sage", "res-acm", "res-acmii", "res-acm+", "res-acmii+"),
    *("gprgnn", "appnp", "bernnet", "gcn+jk", "mixhop", "graphsage", "h2gcn", "linkx", "fsgnn"),
    *("gcnii", "acm-gcnii*", "acm-sign", "orderedgnn", "glognn"),
    *("gat", "gat+jk", "fagcn", "res-gat", "gat-sep", "res-fagcn"),
)
EPOCHS = 30


def problems() -> Iterator[tuple[str, Any]]:
    """Yield names and problems, as the tests of the engine make them."""
    import torch

    sys.path.insert(0, str(FOLDER.parent))
    from engine.conftest import graph_of_twins, made_problem

    from heterophily.data.source import open_graph
    from heterophily.errors import HeterophilyError

    graphs = {"twins": graph_of_twins(45)}
    try:
        graphs["cornell"] = open_graph("cornell")
    except HeterophilyError:
        print("cornell is not here: the generated graph only")
    for name, graph in graphs.items():
        for dtype in (torch.float32, torch.float64):
            for network in NETWORKS if name == "twins" else ("acm-gcn+",):
                how = {"dtype": dtype, "epochs": EPOCHS, "dropout": 0.4, "hidden": 36}
                yield f"{network} {name} {dtype}", made_problem(network, graph, **how)
            how["norm"] = "batch"
            yield f"res-sage, batch norm {name} {dtype}", made_problem("res-sage", graph, **how)


def write(problem: Any, path: Path) -> None:
    """Write what the engine would be given: blocks of memory by address, then two structs."""
    from heterophily.engine.buffers import GraphBuffers
    from heterophily.engine.run import _plan, _Run

    buffers = GraphBuffers(problem.inputs, problem.graph.labels, problem.graph.num_classes)
    replica = _Run(0, problem.task, _plan(problem.task), problem.graph.labels, keep_state=True)
    plan = replica.plan
    buffers.prepare(plan.operators)
    arrays = [*buffers._keep, *replica.rows.values(), plan.parameters.initial]
    arrays += [replica.history, replica.predictions, replica.best]
    blocks = [(array.ctypes.data, array.tobytes()) for array in arrays]
    written = [each for each in (plan.model_struct, plan.program) if each is not None]
    structs = (buffers._others, *plan.keep, *written)
    blocks += [(ctypes.addressof(each), bytes(each)) for each in structs]
    with path.open("wb") as file:
        file.write(len(blocks).to_bytes(8, "little"))
        for address, data in blocks:
            file.write(address.to_bytes(8, "little") + len(data).to_bytes(8, "little") + data)
        file.write(bytes(buffers.struct) + bytes(replica.task_struct()))


def build(compiler: str, flags: list[str], program: Path) -> Path:
    """Build the driver."""
    sources = [FOLDER / "cross.cpp", *sorted(NATIVE.glob("*.cpp"))]
    command = [compiler, *FLAGS, *flags, f"-I{NATIVE}", *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def lines_of(command: list[str], problem: Path) -> list[str]:
    """Run a driver on a problem and return what it prints, the width of a vector aside."""
    done = subprocess.run([*command, str(problem)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="aarch64-linux-gnu-g++")
    parser.add_argument("--emulator", default="qemu-aarch64")
    arguments = parser.parse_args()
    for tool in (arguments.compiler, arguments.emulator):
        if shutil.which(tool) is None:
            print(f"error: {tool} is not installed", file=sys.stderr)
            return 2
    from heterophily.native.library import processor_flags

    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {}
        for number, (title, (needs, flags)) in enumerate(BUILDS.items()):
            if needs <= processor_flags():
                commands[title] = [str(build("g++", flags, folder / f"build{number}"))]
            else:
                print(f"{title}: not on this processor")
        emulated = build(arguments.compiler, [], folder / "emulated")
        commands["aarch64"] = [arguments.emulator, str(emulated)]
        for title, problem in problems():
            write(problem, folder / "problem")
            said = {
                each: lines_of(command, folder / "problem") for each, command in commands.items()
            }
            first = said["x86-64"]
            others = [each for each, lines in said.items() if lines != first]
            failures += bool(others) or "MORE" in first[0]
            same = f"{len(first)} lines equal in {len(said)} builds"
            print(f"{title}: {'differs: ' + ', '.join(others) if others else same}", flush=True)
    print("the same answers on all processors" if not failures else f"{failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
