from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heterophily.data import download
from heterophily.data.download import fetch_files
from heterophily.data.upstream import RemoteFile
from heterophily.errors import DataNotFoundError

FILES = tuple(RemoteFile.at(f"https://example.org/a/{name}") for name in ("x.bin", "y.bin"))


@pytest.fixture
def served(mirror: SimpleNamespace) -> SimpleNamespace:
    (mirror.folder / "a").mkdir()
    (mirror.folder / "a" / "x.bin").write_bytes(b"1" * 5000)
    (mirror.folder / "a" / "y.bin").write_bytes(b"2" * 70)
    return mirror


def test_the_bar_counts_every_byte_once(
    served: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []

    class Display:
        def update(self, task: Any, advance: int) -> None:
            counted.append(advance)

    bar = download._Bar(Display(), None)
    for file in FILES:
        download._fetch(file, tmp_path / "got", served.url, bar)
    assert sum(counted) == 5070


def test_progress_leaves_nothing_behind_when_nobody_watches(
    served: SimpleNamespace, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fetch_files(FILES, tmp_path / "got", mirror=served.url, progress=True)
    assert (tmp_path / "got" / "y.bin").read_bytes() == b"2" * 70
    captured = capfd.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")


def test_a_broken_transfer_leaves_no_part_of_a_file(
    served: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "RETRIES", 0)
    false = RemoteFile(FILES[0].urls, "x.bin", "0" * 64)
    with pytest.raises(DataNotFoundError, match=r"could not download .*/a/x.bin \(its checksum"):
        fetch_files([false], tmp_path / "got", mirror=served.url)
    assert list((tmp_path / "got").iterdir()) == []


def test_all_addresses_are_named_when_all_fail(
    served: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "RETRIES", 0)
    file = RemoteFile(("https://example.org/no1", "https://example.org/no2"), "x")
    with pytest.raises(DataNotFoundError, match=r"/no1 \(.*404\), nor .*/no2 \(.*404\)"):
        fetch_files([file], tmp_path / "got", mirror=served.url)
