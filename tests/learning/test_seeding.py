import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import ClassVar

import pytest
import torch
from torch import nn

from heterophily.data.catalog import load
from heterophily.errors import InputError
from heterophily.learning.seeding import TORCH_DRAWS, replica_seed, reproducible
from heterophily.models.catalog import MODELS
from heterophily.models.operations import model_cost
from heterophily.runs.inside import look_inside


def test_replica_seeds_are_distinct_and_stable():
    seeds = [replica_seed(seed, index) for seed in range(20) for index in range(20)]
    assert len(set(seeds)) == 400
    assert replica_seed(0, 0) == 673228719


def test_negative_seed_is_refused():
    with pytest.raises(InputError, match="seed=-1"):
        replica_seed(-1, 0)


def test_threads_and_generator_are_restored_after_an_error():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    with contextlib.suppress(ZeroDivisionError), reproducible(3, torch.device("cpu")):
        assert torch.get_num_threads() == 1
        torch.rand(2)
        raise ZeroDivisionError
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def is_free_for_others() -> bool:
    """Whether another thread could draw from torch's generator at this moment."""
    with ThreadPoolExecutor(1) as pool:
        if is_free := pool.submit(TORCH_DRAWS.acquire, blocking=False).result():
            pool.submit(TORCH_DRAWS.release).result()
        return is_free


class Watched(nn.Module):
    """A network that notes whether others may draw while it is built and while it is used."""

    free: ClassVar[list[bool]] = []

    def __init__(self, options: object, **sizes: int) -> None:
        super().__init__()
        self.map = nn.Linear(sizes["num_features"], sizes["num_classes"])
        self.free.append(is_free_for_others())

    def forward(self, inputs: object) -> torch.Tensor:
        self.free.append(is_free_for_others())
        return torch.zeros(1)


@pytest.mark.parametrize("what", ["build", "look inside", "cost"])
def test_nobody_else_draws_while_a_network_is_built(what: str) -> None:
    """Threads that train side by side would otherwise begin with each other's weights."""
    graph = load("karate")
    spec = replace(MODELS["gcn"], network=Watched)
    build = partial(spec.build, num_nodes=2, num_features=3, num_classes=2)
    Watched.free.clear()
    assert is_free_for_others()
    if what == "build":
        build()
    elif what == "cost":
        model_cost(spec, graph)
    else:
        look_inside(build, build().state_dict(), None)
    assert Watched.free[0] is False
    if what == "look inside":
        assert not any(Watched.free)
    assert is_free_for_others()
