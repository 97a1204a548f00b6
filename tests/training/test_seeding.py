import contextlib

import pytest
import torch

from heterophily.errors import InputError
from heterophily.training.seeding import replica_seed, reproducible


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
