"""One answer on every machine: the same bits on every instruction set, from the same start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from engine.conftest import graph_of_twins, made_problem, random_graph

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.errors import HeterophilyError
from heterophily.layers.initialization import draw_uniform
from heterophily.native.library import ISA_VARIABLE, engine

MODELS = ("gcn", "acm-gcn", "acmii-gcn", "acm-gcn+", "acm-gcn++", "acm-snowball-2")
STACKS = ("res-gcn", "res-sage", "res-acm", "res-acmii", "res-acm+")
ATTENTION = ("gat", "gat+jk", "fagcn", "res-gat", "gat-sep", "res-fagcn")
BASELINES = (
    *("gprgnn", "appnp", "bernnet", "gcn+jk", "mixhop", "graphsage", "h2gcn", "linkx", "fsgnn"),
    *("gcnii", "acm-gcnii*", "acm-sign", "orderedgnn", "glognn"),
)
CASES: list[tuple[str, dict[str, Any]]] = [
    *((model, {}) for model in (*MODELS, *STACKS, *ATTENTION, *BASELINES)),
    ("res-sage", {"norm": "batch"}),
    ("gat", {"heads": 3, "hidden": 5, "output_heads": 2}),
    ("graphsage", {"use_l2_norm": True}),
]
EPOCHS = 15


def like_texas() -> Graph:
    """Texas, or a random graph of its size."""
    try:
        return open_graph("texas")
    except HeterophilyError:
        return random_graph(nodes=183, features=300, classes=5, density=0.05)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("maker", [like_texas, graph_of_twins], ids=["texas", "twins"])
@pytest.mark.parametrize(("model", "options"), CASES, ids=str)
def test_every_instruction_set_gives_the_same_losses_and_weights(
    model: str,
    options: dict[str, Any],
    maker: Callable[[], Graph],
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {}
    made = made_problem(model, maker(), dtype=dtype, epochs=EPOCHS, dropout=0.5, **options)
    for isa in ("baseline", "avx2", "avx512"):
        monkeypatch.setenv(ISA_VARIABLE, isa)
        if engine().library is not None:
            found[isa] = made.native()
    if len(found) < 2:
        pytest.skip(f"one build only: {', '.join(found)}")
    first = found.pop("baseline")
    for isa, other in found.items():
        for part in ("train_loss", "validation_loss"):
            ours, theirs = getattr(first.history, part), getattr(other.history, part)
            assert ours.tobytes() == theirs.tobytes(), (isa, part)
        assert first.state.keys() == other.state.keys()
        for name, value in first.state.items():
            assert torch.equal(value, other.state[name]), (isa, name)


DRAW = """
import hashlib, torch
from heterophily.layers.initialization import draw_uniform
torch.manual_seed(5)
drawn = [draw_uniform(torch.empty(5000), bound) for bound in (0.125, 0.3, 1.0, 0.0582716546748065)]
print(hashlib.sha256(b"".join(each.numpy().tobytes() for each in drawn)).hexdigest())
"""


def test_initial_weights_do_not_depend_on_the_processor_that_torch_sees(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Torch draws (-b, b) with fused multiply-add where it has it; we round once everywhere."""
    elsewhere = subprocess.run(
        [sys.executable, "-c", DRAW],
        env={**os.environ, "ATEN_CPU_CAPABILITY": "default"},
        capture_output=True,
        text=True,
        check=True,
    )
    exec(DRAW, {})
    assert capsys.readouterr().out == elsewhere.stdout


@pytest.mark.parametrize("bound", [0.125, 0.3, 1.0, 0.0582716546748065])
def test_initial_weights_are_those_of_torch_with_fused_multiply_add(bound: float) -> None:
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        pytest.skip("this torch draws without fused multiply-add")
    torch.manual_seed(1)
    theirs = torch.empty(4001).uniform_(-bound, bound)
    torch.manual_seed(1)
    assert torch.equal(draw_uniform(torch.empty(4001), bound), theirs)
