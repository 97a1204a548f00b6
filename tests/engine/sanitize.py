"""Fuzz the engine under AddressSanitizer and UndefinedBehaviorSanitizer against torch.

Compiles the native sources with both sanitizers, starts Python again with their runtime preloaded,
and trains random small problems (N = 1, F = 1, 2 to 50 classes, empty feature rows, isolated nodes,
1 to 4 channels) in both engines. Any report ends the run.

    python tests/engine/sanitize.py --cases 60
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(__file__).resolve().parent
NATIVE = FOLDER.parents[1] / "src/heterophily/native/source"
LIBRARY = "HETEROPHILY_SANITIZED_LIBRARY"
WITH_HEADS = ("gat", "gat+jk", "res-gat", "gat-sep")
MODELS_TRIED = (
    *("acm-gcn", "acmii-gcn", "acm-snowball-2", "acm-gcn++", "gcn"),
    *("res-gcn", "res-sage", "res-acm", "res-acmii", "res-acm+", "res-acmii+"),
    *("gprgnn", "appnp", "bernnet", "gcn+jk", "mixhop", "graphsage", "h2gcn", "linkx", "fsgnn"),
    *("gcnii", "acm-gcnii*", "acm-sign", "orderedgnn", "glognn"),
    *WITH_HEADS,
    *("fagcn", "res-fagcn"),
)
FLAGS = [
    *["-std=c++17", "-O1", "-g", "-shared", "-fPIC", "-pthread", "-fno-omit-frame-pointer"],
    *["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fvisibility=hidden"],
    *["-march=native", "-ffp-contract=off"],
    "-DHP_LARGE_GRAPH=16",  # sums over nodes part by part
]


def restart(arguments: argparse.Namespace) -> int:
    """Build the library and run this file again on it."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "engine.so"
        sources = [str(NATIVE / name) for name in ("engine.cpp", "program.cpp")]
        subprocess.run([arguments.compiler, *FLAGS, *sources, "-o", str(library)], check=True)
        asked = [arguments.compiler, "-print-file-name=libasan.so"]
        runtime = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        environment = {
            **os.environ,
            LIBRARY: str(library),
            "LD_PRELOAD": runtime,
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, __file__, "--cases", str(arguments.cases)]
        return subprocess.run(command, env=environment, check=False).returncode


def fuzz(cases: int) -> None:
    """Train random problems in both engines; losses must agree."""
    import numpy as np
    import scipy.sparse as sp
    import torch

    from heterophily.data.graph import Graph
    from heterophily.layers.inputs import GraphInputs
    from heterophily.models.catalog import MODELS
    from heterophily.native import library
    from heterophily.training.config import TrainConfig

    sys.path.insert(0, str(FOLDER.parent))
    from engine.conftest import Problem, thirds

    library._path = lambda isa: Path(os.environ[LIBRARY])
    torch.set_num_threads(1)
    names = ["low", "high", "identity"]
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        nodes = int(rng.choice([1, 3, 4, 17, 33, int(rng.integers(3, 90))]))
        classes = min(nodes, int(rng.integers(2, 51)))
        features = int(rng.choice([1, 2, 17, 64]))
        x = rng.random((nodes, features)) * (rng.random((nodes, features)) < 0.15)
        edges = rng.integers(0, nodes, (2, int(rng.integers(0, 4 * nodes))))
        edges = edges[:, edges[0] != edges[1]]
        graph = Graph.from_edges(
            *edges, labels=np.arange(nodes) % classes, features=sp.csr_array(x), num_nodes=nodes
        )
        model = str(rng.choice(list(MODELS_TRIED)))
        options = {"hidden": int(rng.integers(1, 70)), "dropout": float(rng.choice([0, 0.25, 0.9]))}
        if model in WITH_HEADS:
            options["heads"] = int(rng.integers(1, 11))
        if model in (*WITH_HEADS, "fagcn", "res-fagcn"):
            options["attention_dropout"] = float(rng.choice([0, 0.5]))
        if model.startswith(("res", "gat-sep")):
            depth, jump = int(rng.integers(1, 4)), str(rng.choice(["last", "max", "cat"]))
            options |= {"depth": depth, "jk": jump, "input_dropout": float(rng.choice([0.0, 0.5]))}
            options["hidden"] = max(2, options["hidden"])  # of one column a norm leaves nothing
            # A batch norm leaves columns of mean 0: the mean that a node linked to all others sees
            # is 0 but for rounding, and a ReLU turns that into two different answers.
            sees_all = graph.adjacency.count_nonzero(axis=1).max() >= nodes - 1
            options["norm"] = str(rng.choice(["layer"] if sees_all else ["layer", "batch"]))
            options["hidden"] *= options.get("heads", 1)
        elif model == "linkx":
            options["depth"] = 1  # no batch norm: biases in front of it follow rounding alone
        elif model == "orderedgnn":
            options["gates"] = int(rng.choice([1, options["hidden"]]))
        elif model == "acm-sign":
            options["hops"] = int(rng.integers(1, 4))
        elif model.startswith("acm-gcnii"):
            options["channels"] = tuple(names[: int(rng.integers(1, 4))])
        elif model.startswith("acm"):
            options |= {
                "channels": tuple(names[: int(rng.integers(1, 4))]),
                "with_structure": bool(rng.integers(2)),
                "use_layer_norm": bool(rng.integers(2)),
            }
        spec = MODELS[model].with_options(**options)
        # Coefficients of BernNet begin at 0 but for rounding. Where dropout leaves no others, Adam
        # takes a whole step along rounding.
        dtype = torch.float64 if seed % 3 or model == "bernnet" else torch.float32
        inputs = GraphInputs.from_graph(graph, spec.inputs, dtype=dtype)
        columns = max(2, graph.num_classes)

        def build(spec=spec, inputs=inputs, columns=columns, dtype=dtype) -> torch.nn.Module:
            sizes = {"num_nodes": inputs.num_nodes, "num_features": inputs.num_features}
            return spec.build(**sizes, num_classes=columns).to(dtype)

        everyone = np.ones(nodes, bool)
        split = (
            thirds(graph)
            if nodes >= 3
            else SimpleNamespace(train=everyone, validation=everyone, test=everyone)
        )
        config = TrainConfig(max_epochs=8, stopping="none")
        problem = Problem(graph, inputs, build, split, config)
        native = problem.native(threads=1 + seed % 3)
        train, validation, _ = problem.torch(native.epochs)
        tolerance = 1e-8 if dtype == torch.float64 else 2e-3
        np.testing.assert_allclose(native.history.train_loss, train, rtol=tolerance, atol=1e-6)
        np.testing.assert_allclose(
            native.history.validation_loss, validation, rtol=tolerance, atol=1e-6
        )
        print(f"{seed}: {model} N={nodes} F={features} C={columns} {options}: agree", flush=True)
    print(f"{cases} problems agree, no report")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    if LIBRARY not in os.environ:
        return restart(arguments)
    fuzz(arguments.cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
