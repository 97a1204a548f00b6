from __future__ import annotations

import collections
import copyreg
import os
import pickle
import pickletools
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.readers import safe_pickle
from heterophily.data.readers.safe_pickle import load, load_object_array, loads
from heterophily.errors import InputError


class Call:
    """Pickles as a call of ``function``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> Any:
        return self.function, self.arguments


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        loads(data, place="x.pickle")
    message = str(caught.value)
    assert message.startswith("x.pickle ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_matrices_and_containers_come_back(protocol: int) -> None:
    graph = collections.defaultdict(list, {0: [1, 2], 1: [0]})
    matrix = sp.csr_matrix(np.array([[0, 2.5], [1, 0]]))
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    value = {
        "graph": graph,
        "matrix": matrix,
        "array": array,
        "fortran": np.asfortranarray(array),
        "big": array.astype(">i4"),
        "scalar": np.int64(7),
        "none": np.zeros((0, 2)),
        "twice": [array, (array, None, "é", b"\xff", True, 1.5)],
    }
    found = loads(pickle.dumps(value, protocol), place="x")
    assert found["graph"] == {0: [1, 2], 1: [0]}
    assert (found["matrix"] != sp.csr_array(matrix)).nnz == 0
    for key in ("array", "fortran", "big"):
        assert np.array_equal(found[key], array)
    assert found["scalar"] == 7
    assert found["none"].shape == (0, 2)
    assert np.array_equal(found["twice"][0], array)
    assert found["twice"][1][1:] == (None, "é", b"\xff", True, 1.5)


def test_pickles_of_python_2_are_read(upstream_files: SimpleNamespace) -> None:
    # array([1., 2.], dtype=float32) as Python 2 wrote it: its bytes are a string
    data = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xff"
        b"J\xff\xff\xff\xffK\x00tb\x89U\x08\x00\x00\x80?\x00\x00\x00@tb."
    )
    assert loads(data, place="x").tolist() == [1.0, 2.0]
    old = upstream_files.python2_pickle(sp.csr_matrix(np.eye(2)))
    assert b"scipy.sparse.csr\n" in old
    assert loads(old, place="x").toarray().tolist() == [[1, 0], [0, 1]]


def payloads(target: Path) -> dict[str, Any]:
    command = f"touch {target}"
    hidden = np.empty(1, object)
    hidden[0] = Call(os.system, command)
    return {
        "os.system": Call(os.system, command),
        "eval": Call(eval, f"open({str(target)!r}, 'w')"),
        "exec": Call(exec, f"open({str(target)!r}, 'w')"),
        "open": Call(open, str(target), "w"),
        "subprocess": Call(subprocess.call, ["touch", str(target)]),
        "getattr": Call(getattr, list, "__init__"),
        "import": Call(__import__, "os"),
        "in a list": [1, Call(os.system, command)],
        "in a key": {Call(os.system, command): 1},
        "in an object array": hidden,
        "copyreg": Call(copyreg._reconstructor, SimpleNamespace, object, None),  # type: ignore[attr-defined]
        "copyreg of a list": Call(copyreg._reconstructor, list, list, [1]),  # type: ignore[attr-defined]
        "numpy load": Call(np.load, str(target)),
        "numpy function": Call(np.zeros, 10**12),
        "scipy class": sp.coo_matrix(np.eye(2)),
        "default of another kind": collections.defaultdict(int),
        "another class": SimpleNamespace(a=1),
    }


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("kind", list(payloads(Path("x"))))
def test_a_malicious_pickle_runs_nothing(tmp_path: Path, kind: str, protocol: int) -> None:
    target = tmp_path / "ran"
    data = pickle.dumps(payloads(target)[kind], protocol)
    message = refusal(data)
    assert "nothing was executed" in message
    assert not target.exists()


def test_the_payloads_would_run_in_the_ordinary_reader(tmp_path: Path) -> None:
    target = tmp_path / "ran"
    pickle.loads(pickle.dumps(payloads(target)["os.system"]))
    assert target.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"cposix\nsystem\n(S'true'\ntR.",  # GLOBAL
        b"(S'true'\niposix\nsystem\n.",  # INST
        b"(cposix\nsystem\nS'true'\no.",  # OBJ
        b"Pname\n.",  # PERSID
        b"\x82\x01.",  # EXT1
        b"\x80\x04\x8c\x05posix\x8c\x06system\x93.",  # STACK_GLOBAL
        b"\x80\x04\x8c\x08builtins\x8c\x0dlist.__init__\x93.",  # dotted name
        b"]r\xff\xff\xff\x7f.",  # LONG_BINPUT far away
    ],
)
def test_every_way_to_name_a_function_is_closed(data: bytes) -> None:
    list(pickletools.genops(data))  # well formed
    assert "asks for" in refusal(data)


def test_the_stand_ins_themselves_cannot_be_changed() -> None:
    before = safe_pickle._array.__defaults__
    for name in (
        b"numpy.core.multiarray\n_reconstruct",
        b"numpy\ndtype",
        b"collections\ndefaultdict",
    ):
        state = b"}S'__defaults__'\nNs"  # a dictionary as state
        refusal(b"c" + name + b"\n" + state + b"b.")
        refusal(b"c" + name + b"\n" + b"N" + state + b"\x86b.")  # (None, slots)
    assert safe_pickle._array.__defaults__ == before


def test_containers_that_refer_to_themselves_or_explode_end_quickly() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "nested too deeply" in refusal(pickle.dumps(loop))
    doubled: Any = [1]
    for _ in range(14):  # 2^14 paths, 15 lists
        doubled = [doubled, doubled]
    assert len(loads(pickle.dumps(doubled), place="x")) == 2


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"no pickle",
        pickle.dumps(np.arange(9))[:-20],
        b"X\xff\xff\xff\x7fabc.",  # promises 2 GB of text
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.",
    ],
)
def test_a_damaged_pickle_is_one_sentence(value: bytes) -> None:
    assert "damaged or not a pickle" in refusal(value)


def test_a_sparse_matrix_with_false_parts_is_refused() -> None:
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 9], np.int32)
    refusal(pickle.dumps(matrix))


def test_an_object_array_file_is_read_through_the_same_door(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    array = np.empty(2, object)
    array[:] = [{"train": np.array([0, 1])}, {"train": np.array([2])}]
    np.save(path, array, allow_pickle=True)
    assert [entry["train"].tolist() for entry in load_object_array(path)] == [[0, 1], [2]]
    array[1] = Call(os.mkdir, str(tmp_path / "ran"))
    np.save(path, array, allow_pickle=True)
    with pytest.raises(InputError, match=r"asks for \w+.mkdir"):
        load_object_array(path)
    assert not (tmp_path / "ran").exists()
    np.save(path, np.arange(3))
    with pytest.raises(InputError, match="expected an array of objects"):
        load_object_array(path)
    with pytest.raises(InputError, match=r"cannot read .*no.npy: No such file"):
        load(tmp_path / "no.npy")
