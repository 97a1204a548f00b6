"""Counter-based masks: the same in NumPy and C++, and as random as they should be."""

from __future__ import annotations

import numpy as np
import pytest
from engine.counter import counter_mask

from heterophily.native.library import engine


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.93])
def test_native_mask_is_the_numpy_mask(rate: float) -> None:
    library = engine().library
    assert library is not None
    kept = np.zeros(1000, np.uint8)
    for seed, step, site in [(0, 1, 0), (2**63 + 5, 77, 3)]:
        library.hp_dropout_mask(seed, step, site, rate, kept.size, kept.ctypes.data)
        np.testing.assert_array_equal(kept, counter_mask(seed, step, site, rate, kept.size))


def test_share_of_kept_entries_is_that_of_the_rate() -> None:
    for step in range(5):
        share = counter_mask(1, step, 0, 0.3, 200_000).mean()
        assert abs(share - 0.7) < 5 * np.sqrt(0.21 / 200_000)


def test_masks_of_steps_sites_seeds_and_neighbouring_entries_are_uncorrelated() -> None:
    count = 200_000
    base = counter_mask(1, 1, 0, 0.5, count) - 0.5
    others = [
        counter_mask(1, 2, 0, 0.5, count) - 0.5,
        counter_mask(1, 1, 1, 0.5, count) - 0.5,
        counter_mask(2, 1, 0, 0.5, count) - 0.5,
        *(np.roll(base, shift) for shift in (1, 2, 3, 16, 64, 4096)),
    ]
    for other in others:
        assert abs((base * other).mean() / 0.25) < 5 / np.sqrt(count)
