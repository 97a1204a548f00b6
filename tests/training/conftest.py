"""A small learnable problem, and models that worker processes can import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from heterophily.data.splits import Split, random_splits


@dataclass
class Problem:
    inputs: torch.Tensor  # (60, 6)
    labels: NDArray[np.int64]  # (60,), 3 classes
    splits: list[Split]


@pytest.fixture(scope="session")
def problem() -> Problem:
    rng = np.random.default_rng(7)
    labels = np.arange(60) % 3
    centres = rng.normal(size=(3, 6))
    inputs = centres[labels] + rng.normal(size=(60, 6))
    splits = list(random_splits(labels, repeats=4, seed=1))
    return Problem(torch.tensor(inputs, dtype=torch.float32), labels, splits)


@pytest.fixture(scope="session")
def models() -> Iterator[ModuleType]:
    """The module ``tiny_models``, on the path that worker processes inherit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        import tiny_models

        yield tiny_models
