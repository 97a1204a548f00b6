from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from heterophily.errors import InputError
from heterophily.web.folder import MOST_LOG_BYTES, WorkFolder, read_json, write_json
from heterophily.web.refusal import RefusedError


@pytest.fixture
def folder(tmp_path: Path) -> WorkFolder:
    return WorkFolder(tmp_path / "work")


def filled(folder: WorkFolder, *, kilobytes: int, days_ago: float) -> str:
    name, path = folder.make("graphs")
    (path / "data").write_bytes(b"x" * 1024 * kilobytes)
    then = time.time() - 86400 * days_ago
    os.utime(path, (then, then))
    return name


def test_a_second_server_in_the_same_folder_is_refused_until_the_first_ends(
    folder: WorkFolder,
) -> None:
    with pytest.raises(InputError, match="another heterophily serve works in"):
        WorkFolder(folder.path.parent)
    folder.close()
    WorkFolder(folder.path.parent).close()


def test_a_place_that_cannot_be_a_folder_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another one with --work-folder"):
        WorkFolder(tmp_path / "file" / "work")


@pytest.mark.parametrize(
    "name", ["..", "0" * 15, "0" * 16, "../jobs", "G" * 16, "", "0" * 16 + "\n"]
)
def test_names_that_are_not_there_lead_nowhere(folder: WorkFolder, name: str) -> None:
    with pytest.raises(RefusedError, match="there is no graph") as refused:
        folder.find("graphs", name)
    assert refused.value.status == 404


def test_what_was_made_is_found_listed_newest_first_and_removed(folder: WorkFolder) -> None:
    old, new = (filled(folder, kilobytes=1, days_ago=days) for days in (2, 1))
    assert folder.ids("graphs") == [new, old]
    folder.remove("graphs", old)
    assert folder.ids("graphs") == [new]


def test_graphs_expire_by_age_but_not_while_they_are_in_use(folder: WorkFolder) -> None:
    old, busy, new = (filled(folder, kilobytes=1, days_ago=days) for days in (9, 8, 1))
    assert new in folder.ids("graphs")
    assert folder.expired(keep_days=7, keep_mb=100, busy=[busy]) == [old]


def test_beyond_the_size_the_oldest_graphs_expire_first(folder: WorkFolder) -> None:
    oldest, middle, newest = (filled(folder, kilobytes=600, days_ago=days) for days in (3, 2, 1))
    assert folder.expired(keep_days=7, keep_mb=1, busy=[]) == [middle, oldest]
    assert folder.expired(keep_days=7, keep_mb=2, busy=[]) == []
    assert newest not in folder.expired(keep_days=7, keep_mb=1, busy=[])


def test_a_file_that_is_not_whole_is_read_as_none(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": 1})
    assert read_json(tmp_path / "a.json") == {"a": 1}
    (tmp_path / "a.json").write_text('{"a": ')
    assert read_json(tmp_path / "a.json") is None
    assert read_json(tmp_path / "b.json") is None


def test_a_log_that_grew_large_is_begun_anew(tmp_path: Path) -> None:
    first = WorkFolder(tmp_path)
    first.log.write_bytes(b"x" * (MOST_LOG_BYTES + 1))
    first.close()
    second = WorkFolder(tmp_path)
    assert not second.log.exists()
    second.close()
