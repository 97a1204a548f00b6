from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterophily.data.atomic import atomic_path, write_bytes, write_text
from heterophily.errors import DataNotFoundError, InputError


def test_a_failing_block_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail_halfway() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert target.read_text() == "old"


def test_the_target_does_not_change_before_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.npz"
    target.write_text("old")
    with atomic_path(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".npz"
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "né")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == "né".encode()


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "a", b"1")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_a_folder_and_a_device_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "no" / "a", "there is no folder"),
        (tmp_path, "not a regular file"),
        (Path(os.devnull), "not a regular file"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            write_bytes(path, b"")
        assert "\n" not in str(caught.value)
    assert Path(os.devnull).exists()


def test_a_full_disk_becomes_one_sentence(tmp_path: Path) -> None:
    words = r"cannot write .*a: No space left"
    with pytest.raises(InputError, match=words) as caught, atomic_path(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_error_about_another_file_keeps_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="elsewhere"), atomic_path(tmp_path / "a"):
        raise DataNotFoundError("elsewhere")
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "a"):
        (tmp_path / "b").read_text()
