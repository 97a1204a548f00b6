from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heterophily.data.npz_arrays import read_arrays, write_arrays
from heterophily.errors import InputError


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_arrays(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_arrays_of_every_plain_kind_come_back(tmp_path: Path) -> None:
    arrays = {
        "whole": np.arange(6).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "text": np.array(["a", "ü"]),
        "truth": np.array(True),
        "nothing": np.zeros((0, 3), np.float32),
        "big_endian": np.array([1, 2], ">i4"),
    }
    write_arrays(tmp_path / "a.npz", arrays)
    for found in (read_arrays(tmp_path / "a.npz"), dict(np.load(tmp_path / "a.npz"))):
        assert found.keys() == arrays.keys()
        for key, array in arrays.items():
            assert np.array_equal(found[key], array)
            assert found[key].shape == array.shape


def test_missing_empty_and_foreign_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    assert "no such file" in refusal(path)
    path.write_bytes(b"")
    assert "is empty" in refusal(path)
    path.write_bytes(b"node,label\n1,2\n")
    assert "damaged or not an .npz file" in refusal(path)
    path.write_bytes(npy(np.zeros(3)))
    assert "damaged or not an .npz file" in refusal(path)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npz"
    write_arrays(whole, {"a": np.arange(1000), "b": np.ones(5)})
    data, cut = whole.read_bytes(), tmp_path / "cut.npz"
    for length in range(1, len(data), max(1, len(data) // 40)):
        cut.write_bytes(data[:length])
        refusal(cut)


def test_a_changed_byte_of_data_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(1000))  # stored, not deflated: the checksum alone can tell
    data = bytearray(path.read_bytes())
    data[4000] ^= 1
    path.write_bytes(data)
    assert "damaged" in refusal(path)


def test_pickled_objects_are_never_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "opened"),)

    path = tmp_path / "a.npz"
    np.savez(path, y=np.array([Bomb()], object))
    assert "field 'y' contains pickled objects" in refusal(path)
    assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize("name", ["../y.npy", "/y.npy", "a/y.npy", "..\\y.npy", "c:y.npy"])
def test_a_member_with_a_path_is_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "a.npz", **{name: npy(np.zeros(2))})
    assert "has a path in its name" in refusal(path)


def test_other_members_and_repeated_fields_are_refused(tmp_path: Path) -> None:
    assert "is not an array" in refusal(archive(tmp_path / "a.npz", readme=b"hello"))
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as file:
        file.writestr("y.npy", npy(np.zeros(2)))
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("y.npy", npy(np.ones(2)))
    assert "'y' occurs twice" in refusal(tmp_path / "b.npz")


def test_a_header_that_promises_more_than_the_file_holds_allocates_nothing(tmp_path: Path) -> None:
    data = npy(np.zeros(10, np.int64))
    false = data.replace(b"(10,), }", b"(10000000000000000,), }").replace(b" " * 15 + b"\n", b"\n")
    message = refusal(archive(tmp_path / "a.npz", **{"y.npy": false}))
    assert "declares shape (10000000000000000,)" in message


@pytest.mark.parametrize(
    "header",
    [b"not a header", b"{'descr': '<i8'}", b"{'descr': [('a', 'O')], 'fortran_order': False, "],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: bytes) -> None:
    text = header.ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    assert "field 'y' is not a NumPy array" in refusal(
        archive(tmp_path / "a.npz", **{"y.npy": data})
    )


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    head = (
        npy(np.zeros(0, np.uint8))
        .replace(b"(0,), }", b"(300000000,), }")
        .replace(b" " * 8 + b"\n", b"\n")
    )
    block = bytes(10**6)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("y.npy", "w") as out:
        out.write(head)
        for _ in range(300):
            out.write(block)
    assert path.stat().st_size < 10**6
    assert "unpacks to 300,000," in refusal(path)


def test_structured_and_complex_arrays_are_refused(tmp_path: Path) -> None:
    for array in (np.zeros(2, complex), np.zeros(2, [("a", int)]), np.zeros(2, "datetime64[s]")):
        np.savez(tmp_path / "a.npz", y=array)
        assert "expected numbers or text" in refusal(tmp_path / "a.npz")
