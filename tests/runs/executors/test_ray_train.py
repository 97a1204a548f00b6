"""What processes that train together under Ray Train refuse before Ray is started."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.runs.executors.ray_train import CHECKPOINT, train_together
from heterophily.training.config import TrainConfig

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra cluster)"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kill -9 and /proc"),
    pytest.mark.filterwarnings("ignore"),  # of Ray
]


def test_a_whole_batch_cannot_be_shared(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0], features=np.eye(3))
    part = np.arange(3)
    split = Split(part == 0, part == 1, part == 2)
    with pytest.raises(InputError, match="'channels' or 'sampled'"):
        train_together(MODELS["mlp-2"], graph, split, TrainConfig(), folder=tmp_path)
    assert not (tmp_path / CHECKPOINT).exists()
