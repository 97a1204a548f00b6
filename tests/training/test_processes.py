"""Two processes that train together give what one gives."""

from __future__ import annotations

import numpy as np
import pytest
from fresh import fresh_start

from heterophily.errors import InputError
from heterophily.training.processes import ProcessTeam

SCRIPT = """
import sys
from pathlib import Path
import numpy as np, torch, torch.distributed as dist
from heterophily.batches.prepare import channel_batches
from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.mini_batch import Team, fit_batches
from heterophily.training.processes import ProcessTeam

place, rank, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
team = Team()
if size > 1:
    dist.init_process_group("gloo", init_method=f"file://{place}/meet", rank=rank,
                            world_size=size)
    team = ProcessTeam()
rng = np.random.default_rng(0)
labels = np.arange(90) % 3
ends = rng.integers(0, 90, (2, 400))
features = (rng.normal(size=(90, 8)) + np.eye(3, 8)[labels]).astype(np.float32)
graph = Graph.from_edges(*ends, features=features, labels=labels)
part = rng.permutation(90) % 3
spec = MODELS["acm-sign"].with_options(features="numbers", dropout=0.0, hidden=8)
config = TrainConfig(max_epochs=4, batches="channels", batch_size=10)

split, saved = Split(part == 0, part == 1, part == 2), {}
for name, dtype in (("single", torch.float32), ("double", torch.float64)):
    source = channel_batches(graph, spec)
    read = source._blocks
    source._blocks = lambda rows: {k: block.to(dtype) for k, block in read(rows).items()}
    found = fit_batches(
        lambda: spec.build(num_nodes=90, num_features=8, num_classes=3).to(dtype),
        source, graph.labels, split, config, seed=0, team=team,
    )
    saved |= {f"{name} logits": found.logits, f"{name} loss": found.history.train_loss}
if rank == 0:
    np.savez(place / f"{size}.npz", **saved)
"""


def run(place, size):
    started = []
    for rank in range(size):
        logs = place / f"{rank} of {size}"
        logs.mkdir()
        how = {"folder": place, "logs": logs, "environment": {"GLOO_SOCKET_IFNAME": "lo"}}
        started.append(fresh_start(SCRIPT, words=(place, rank, size), **how))
    return [(ended.returncode, ended.stderr) for ended in (each.wait() for each in started)]


def test_two_processes_give_what_one_gives(tmp_path):
    assert run(tmp_path, 1) == [(0, "")]
    assert run(tmp_path, 2) == [(0, ""), (0, "")]
    one, two = (np.load(tmp_path / f"{size}.npz") for size in (1, 2))
    for name, of_losses, of_logits in (("single", 1e-6, 1e-5), ("double", 1e-12, 1e-6)):
        for what, most in (("loss", of_losses), ("logits", of_logits)):
            key = f"{name} {what}"
            np.testing.assert_allclose(two[key], one[key], rtol=0, atol=most, err_msg=key)


def test_a_team_needs_a_process_group():
    with pytest.raises(InputError, match="init_process_group"):
        ProcessTeam()
