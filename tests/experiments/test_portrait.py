"""A portrait is read back as it was written; other files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report.made import portrait, ring

from heterophily.errors import InputError
from heterophily.experiments.portrait import Portrait


@pytest.mark.parametrize("channels", [("low", "high", "identity"), ()])
def test_a_portrait_comes_back_bit_for_bit(tmp_path: Path, channels: tuple[str, ...]) -> None:
    made = portrait(ring(), channels=channels)
    made.write(tmp_path / "one.npz")
    back = Portrait.read(tmp_path / "one.npz")
    assert (back.model, back.graph, back.split, back.channels) == ("acm-gcn", "ring", 0, channels)
    assert back.record.answer == made.record.answer
    assert back.test_accuracy == made.test_accuracy == 1.0
    for name in ("labels", "test", "predictions", "logits", "validation_loss"):
        assert np.array_equal(getattr(back, name), getattr(made, name))
    for first, second in zip(back.weights + back.outputs, made.weights + made.outputs, strict=True):
        assert first.dtype == np.float32
        assert np.array_equal(first, second)


def test_another_npz_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", labels=np.arange(3))
    with pytest.raises(InputError, match=r"other\.npz is not a portrait of a run; remove it"):
        Portrait.read(tmp_path / "other.npz")
