"""Artefacts: content-addressed, whole or absent, swept when nobody needs them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from heterophily.errors import InputError, UnknownNameError
from heterophily.runs import artefacts
from heterophily.runs.artefacts import (
    ArtefactFiles,
    ArtefactsInMemory,
    artefacts_of,
    check_kinds,
)
from heterophily.runs.stores.url import open_store

KEY, OTHER = "ab" * 32, "cd" * 32
LOGITS = {"logits": np.arange(6, dtype=np.float32).reshape(3, 2), "predictions": np.arange(3)}
KEPT = {"logits": LOGITS, "state": {"layers.0.weight": np.ones((2, 2))}, "history": {}}


@pytest.fixture(params=["files", "memory"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> ArtefactFiles | ArtefactsInMemory:
    return ArtefactFiles(tmp_path / "a") if request.param == "files" else ArtefactsInMemory()


def test_what_was_written_is_read_back_bit_for_bit(
    kept: ArtefactFiles | ArtefactsInMemory,
) -> None:
    assert not kept.has(KEY, ("logits",))
    kept.write(KEY, KEPT)
    found = kept.read(KEY, ("logits", "state", "history"))
    assert found is not None
    for kind, part in KEPT.items():
        assert set(found[kind]) == set(part)
        for name, value in part.items():
            assert np.array_equal(found[kind][name], value)
            assert found[kind][name].dtype == value.dtype


def test_kinds_of_several_trainings_are_found_together(
    kept: ArtefactFiles | ArtefactsInMemory,
) -> None:
    kept.write(KEY, {"logits": LOGITS})
    assert kept.has(KEY, ("logits",))
    assert not kept.has(KEY, ("logits", "state"))
    assert kept.read(KEY, ("logits", "state")) is None
    kept.write(KEY, {"state": KEPT["state"]})
    assert kept.read(KEY, ("logits", "state")) is not None
    kept.drop([KEY, OTHER])
    assert not kept.has(KEY, ("logits",))


def test_a_damaged_file_is_removed_and_counts_as_missing(tmp_path: Path) -> None:
    kept = ArtefactFiles(tmp_path)
    kept.write(KEY, KEPT)
    (path,) = tmp_path.glob("*/*")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert kept.read(KEY, ("logits",)) is None
    assert not path.exists()


def test_files_nobody_reads_are_swept_and_young_or_wanted_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(artefacts.ENVIRONMENT, "0")
    kept = ArtefactFiles(tmp_path)
    kept.write(KEY, KEPT)
    kept.write(OTHER, KEPT)
    assert kept.sweep() == 0
    for path in tmp_path.glob("*/*"):
        os.utime(path, (0, time.time() - 2 * 3600))
    (tmp_path / KEY[:2] / ".left-behind").write_bytes(b"")
    os.utime(tmp_path / KEY[:2] / ".left-behind", (0, 0))
    assert kept.sweep([OTHER]) == 2
    assert kept.has(OTHER, ("state",))
    assert not kept.has(KEY, ("state",))
    monkeypatch.setenv(artefacts.ENVIRONMENT, "much")
    with pytest.raises(InputError, match="whole number of megabytes"):
        kept.sweep()


def test_files_lie_beside_the_store_and_those_of_memory_in_memory(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        found = artefacts_of(store)
        assert isinstance(found, ArtefactFiles)
        assert found.folder == tmp_path / "runs.sqlite-artefacts"
    with open_store("memory:") as store:
        assert artefacts_of(store) is artefacts_of(store)
        assert isinstance(artefacts_of(store), ArtefactsInMemory)


def test_an_unknown_kind_is_refused() -> None:
    assert check_kinds(["state", "state", "logits"]) == ("state", "logits")
    with pytest.raises(UnknownNameError, match="did you mean 'logits'"):
        check_kinds(["logit"])
